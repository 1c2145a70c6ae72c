"""Shapes follow the Structs, so what holds for one kind holds for all."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.reading import SHAPES
from podium.kubernetes.kinds.typed_objects import KINDS, decode_json, decode_object

SCALARS: dict[Form, st.SearchStrategy[Any]] = {
    Form.STRING: st.sampled_from(["a", "b"]),
    Form.INT64: st.integers(0, 2**31 - 1),
    Form.BOOL: st.booleans(),
    Form.QUANTITY: st.sampled_from(["500m", "1Gi", 2, 0.5, "1e3"]),
    Form.INT_OR_STRING: st.sampled_from([1, "50%"]),
}


def raw_data(shape: Shape, *, full: bool) -> st.SearchStrategy[Any]:
    """Raw data of a shape; `full` sets every field, else some fields stay out."""
    match shape:
        case Scalar():
            return SCALARS[shape.form]
        case AnyValue():
            return st.sampled_from([{"a": None}, 1, "x"])
        case ListOf():
            return st.lists(raw_data(shape.item, full=full), min_size=int(full), max_size=2)
        case MapOf():
            values = raw_data(shape.value, full=full)
            return st.dictionaries(st.sampled_from(["k1", "k2"]), values, max_size=2)
        case Struct():
            fields = {
                name: raw_data(field.shape, full=full) for name, field in shape.fields.items()
            }
            if full or not fields:
                return st.fixed_dictionaries(fields)
            return st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True).flatmap(
                lambda names: st.fixed_dictionaries({name: fields[name] for name in names})
            )
    raise AssertionError(shape)


def whole(kind: tuple[str, str], raw: dict[str, Any]) -> dict[str, Any]:
    metadata = {**raw.get("metadata", {}), "name": "x"}
    return {**raw, "apiVersion": kind[0], "kind": kind[1], "metadata": metadata}


kinds = st.sampled_from(sorted(KINDS))
objects = kinds.flatmap(
    lambda kind: raw_data(SHAPES.struct(KINDS[kind]), full=False).map(lambda raw: whole(kind, raw))
)


@given(objects)
def test_an_object_survives_being_encoded_and_decoded(raw: dict[str, Any]) -> None:
    decoded = decode_object(raw, strict=True)
    again = {**msgspec.to_builtins(decoded), "apiVersion": raw["apiVersion"], "kind": raw["kind"]}
    assert decode_object(again, strict=True) == decoded
    assert decode_json(msgspec.json.encode(raw)) == decoded


def with_nulls(raw: Any, shape: Shape) -> Any:
    """`raw` with an explicit null for every field that is not set."""
    match shape:
        case Struct():
            return {
                name: with_nulls(raw[name], field.shape) if name in raw else None
                for name, field in shape.fields.items()
            }
        case ListOf():
            return [with_nulls(value, shape.item) for value in raw]
        case MapOf():
            return {key: with_nulls(value, shape.value) for key, value in raw.items()}
    return raw


@given(objects)
def test_explicit_nulls_change_nothing(raw: dict[str, Any]) -> None:
    nulled = with_nulls(raw, SHAPES.struct(KINDS[raw["apiVersion"], raw["kind"]]))
    before = copy.deepcopy(nulled)
    decoded = decode_object(raw, strict=True)
    assert decode_object(nulled, strict=True) == decoded
    assert decode_json(msgspec.json.encode(nulled)) == decoded
    assert nulled == before


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_field_is_both_read_and_unread(kind: tuple[str, str]) -> None:
    def visit(struct: type[KubeStruct]) -> None:
        info = msgspec.inspect.type_info(struct)
        assert isinstance(info, msgspec.inspect.StructType)
        assert struct.UNREAD.isdisjoint(field.encode_name for field in info.fields)
        for inner in msgspec.structs.fields(struct):
            for part in structs_in(msgspec.inspect.type_info(inner.type)):
                visit(part)

    visit(KINDS[kind])


def structs_in(info: msgspec.inspect.Type) -> list[type[KubeStruct]]:
    match info:
        case msgspec.inspect.StructType(cls=struct) if issubclass(struct, KubeStruct):
            return [struct]
        case msgspec.inspect.UnionType():
            return [struct for kind in info.types for struct in structs_in(kind)]
        case msgspec.inspect.VarTupleType():
            return structs_in(info.item_type)
        case msgspec.inspect.DictType():
            return structs_in(info.value_type)
    return []


def test_shapes_are_derived_once() -> None:
    struct = KINDS["v1", "Pod"]
    assert SHAPES.struct(struct) is SHAPES.struct(struct)
