"""Shapes follow the Structs, so what holds for one kind holds for all."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.shapes import (
    ANYTHING,
    FLAG,
    INT_OR_TEXT,
    INTEGER,
    QUANTITY,
    Entries,
    Items,
    Leaf,
    Record,
    Shape,
    shape_of,
)
from podium.kubernetes.kinds.typed_objects import KINDS, decode_json, decode_object

LEAVES: dict[int, st.SearchStrategy[Any]] = {
    id(INTEGER): st.integers(0, 2**31 - 1),
    id(FLAG): st.booleans(),
    id(QUANTITY): st.sampled_from(["500m", "1Gi", 2, 0.5, "1e3"]),
    id(INT_OR_TEXT): st.sampled_from([1, "50%"]),
    id(ANYTHING): st.sampled_from([{"a": None}, 1, "x"]),
}


def raw_data(shape: Shape, *, full: bool) -> st.SearchStrategy[Any]:
    """Raw data of a shape; `full` sets every field, else some fields stay out."""
    match shape:
        case Leaf():
            return LEAVES.get(id(shape), st.sampled_from(["a", "b"]))
        case Items():
            return st.lists(raw_data(shape.element, full=full), min_size=int(full), max_size=2)
        case Entries():
            values = raw_data(shape.value, full=full)
            return st.dictionaries(st.sampled_from(["k1", "k2"]), values, max_size=2)
        case Record():
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
    lambda kind: raw_data(shape_of(KINDS[kind]), full=False).map(lambda raw: whole(kind, raw))
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
        case Record():
            return {
                name: with_nulls(raw[name], field.shape) if name in raw else None
                for name, field in shape.fields.items()
            }
        case Items():
            return [with_nulls(value, shape.element) for value in raw]
        case Entries():
            return {key: with_nulls(value, shape.value) for key, value in raw.items()}
    return raw


@given(objects)
def test_explicit_nulls_change_nothing(raw: dict[str, Any]) -> None:
    nulled = with_nulls(raw, shape_of(KINDS[raw["apiVersion"], raw["kind"]]))
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
    assert shape_of(struct) is shape_of(struct)
