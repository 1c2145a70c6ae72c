"""Lists, maps and values of struct types that an expression writes out.

Parts that are marked with `?` are left out when they are `optional.none()`.
"""

from collections.abc import Sequence
from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.evaluation import Code, Frame
from podium.kubernetes.cel.structs import StructType, StructValue
from podium.kubernetes.cel.values import Optional, to_key, type_name


def optional(value: Any) -> Optional:
    """A value that has to be an optional."""
    if type(value) is not Optional:
        raise no_such_overload()
    return value


def make_list(codes: Sequence[Code], optionals: frozenset[int]) -> Code:
    """`[a, ?b]`; `optionals` are positions."""

    def run(frame: Frame) -> list[Any]:
        values: list[Any] = []
        for position, code in enumerate(codes):
            value = code(frame)
            if position not in optionals:
                values.append(value)
            elif optional(value).present:
                values.append(value.value)
        return values

    return run


def make_map(codes: Sequence[tuple[Code, Code]], optionals: frozenset[int]) -> Code:
    """`{a: b, ?c: d}`; `optionals` are positions."""

    def run(frame: Frame) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for position, (key_code, value_code) in enumerate(codes):
            name = key_code(frame)
            if type(name) is float:
                raise CelError(f"unsupported key type: {type_name(name)}")
            key = to_key(name)
            value = value_code(frame)
            if position in optionals:
                if not optional(value).present:
                    continue
                value = value.value
            if key in entries:
                raise CelError(f"Failed with repeated key: {name}")
            entries[key] = value
        return entries

    return run


def make_struct(struct: StructType, parts: Sequence[tuple[str, Code, bool]]) -> Code:
    """`Name{a: b, ?c: d}`; the third of a part says that it is an optional."""

    def run(frame: Frame) -> StructValue:
        fields: dict[str, Any] = {}
        for name, code, is_optional in parts:
            value = code(frame)
            if is_optional:
                if not optional(value).present:
                    fields.pop(name, None)
                    continue
                value = value.value
            fields[name] = value
        return StructValue(struct, fields)

    return run
