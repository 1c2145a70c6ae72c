"""Objects of built-in kinds for property tests: any fields of a kind with values of their types."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from podium.golang.shapes import (
    AnyValue,
    Form,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Struct,
)
from podium.kubernetes.schema import Schema

_WORDS = st.sampled_from(["a", "b", "c", "d-1"])
_SCALARS: dict[Form, st.SearchStrategy[Any]] = {
    Form.STRING: _WORDS,
    Form.BOOL: st.booleans(),
    Form.INT32: st.integers(0, 3),
    Form.INT64: st.integers(0, 3),
    Form.FLOAT: st.integers(0, 3),
    Form.BYTES: st.sampled_from(["", "YQ==", "YWI="]),
    Form.QUANTITY: st.sampled_from(["1", "500m", "2Gi", "1000m"]),
    Form.TIME: st.just("2026-01-01T00:00:00Z"),
    Form.MICRO_TIME: st.just("2026-01-01T00:00:00.000001Z"),
    Form.INT_OR_STRING: st.one_of(st.integers(0, 3), st.just("25%")),
}
_LEFT_OUT = {"managedFields"}

json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.just(1.5), _WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.one_of(_WORDS, st.sampled_from(["metadata", "spec", "status", "data"])),
    json_values,
    max_size=4,
)


def objects_of(schema: Schema, *names: str, depth: int = 4) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of a kind; with names, only these of its top-level fields."""
    root = schema.root
    fields = {name: root.fields[name].shape for name in (names or root.fields)}
    inner = st.fixed_dictionaries(
        {}, optional={name: _values(shape, depth) for name, shape in fields.items()}
    )
    return inner.map(lambda obj: {**obj, "apiVersion": schema.api_version, "kind": schema.kind})


@cache
def _values(shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    match shape:
        case Scalar():
            return st.sampled_from(shape.values) if shape.values else _SCALARS[shape.form]
        case AnyValue():
            return st.dictionaries(_WORDS, _WORDS, max_size=2)
        case MapOf():
            return st.dictionaries(_WORDS, _values(shape.value, depth - 1), max_size=2)
        case ListOf():
            if depth <= 0:
                return st.just([])
            items = st.lists(_values(shape.item, depth - 1), max_size=3)
            return items.map(lambda found: _told_apart(found, shape))
        case Struct():
            return _structs(shape, depth)


@st.composite
def _structs(draw: st.DrawFn, struct: Struct, depth: int) -> dict[str, Any]:
    names = sorted(set(struct.fields) - _LEFT_OUT)
    if depth <= 0 or not names:
        return {}
    chosen = draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
    return {name: draw(_values(struct.fields[name].shape, depth - 1)) for name in chosen}


def _told_apart(items: list[Any], shape: ListOf) -> list[Any]:
    """The items with keys of their own, where the list needs them."""
    if shape.is_set:
        return list(dict.fromkeys(items))
    if not shape.keys or not isinstance(shape.item, Struct):
        return items
    key = shape.keys[0]
    field = shape.item.fields[key].shape
    is_text = isinstance(field, Scalar) and field.form is Form.STRING
    return [{**item, key: f"n{i}" if is_text else i} for i, item in enumerate(items)]
