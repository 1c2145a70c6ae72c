"""Values with parts, as closures: reading their parts, and making them.

Reads are `a.b`, `a[b]`, `has(a.b)`, `a.?b` and `a[?b]`. They are the bulk of what a device selector
does, so a plain field of a plain map is one dict lookup. Inside an optional chain a missing key
ends the chain with `optional.none()`.

Lists, maps and values of struct types are made as an expression writes them out. Parts that are
marked with `?` are left out when they are `optional.none()`.
"""

from collections.abc import Sequence
from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.evaluation import Code, Frame
from podium.kubernetes.cel.structs import StructType, StructValue
from podium.kubernetes.cel.values import (
    NONE,
    Optional,
    Uint,
    some,
    to_key,
    type_name,
)


def no_such_key(key: Any) -> CelError:
    shown = str(key).lower() if isinstance(key, bool) else str(key)
    return CelError(f"no such key: {shown}")


def select(operand: Code, field: str) -> Code:
    """`operand.field`."""

    def run(frame: Frame) -> Any:
        value = operand(frame)
        try:
            return value[field]
        except KeyError:
            raise no_such_key(field) from None
        except TypeError:
            if type(value) is Optional:
                return _select_optional(value, field)
            raise no_such_key(field) from None

    return run


def select_optional(operand: Code, field: str) -> Code:
    """`operand.?field`."""

    def run(frame: Frame) -> Any:
        return _select_optional(operand(frame), field)

    return run


def _select_optional(value: Any, field: Any) -> Optional:
    if type(value) is Optional:
        if not value.present:
            return NONE
        value = value.value
    if not isinstance(value, dict):
        return NONE
    try:
        return some(value[field])
    except KeyError:
        return NONE


def test_field(operand: Code, field: str) -> Code:
    """`has(operand.field)`.

    upstream: on the outer maps of a device this is true for every domain, because the test goes
    through the lookup that supplies an empty map.
    """

    def run(frame: Frame) -> bool:
        value = operand(frame)
        if type(value) is Optional:
            return _select_optional(value, field).present
        if type(value) is StructValue:
            return field in value.fields
        if not isinstance(value, dict):
            return False
        try:
            value[field]
        except KeyError:
            return False
        return True

    return run


def index_constant_text(operand: Code, key: str) -> Code:
    """`operand["key"]`; the most common index by far."""

    def run(frame: Frame) -> Any:
        value = operand(frame)
        if isinstance(value, dict):
            try:
                return value[key]
            except KeyError:
                raise no_such_key(key) from None
        return element(value, key)

    return run


def index(operand: Code, key: Code) -> Code:
    """`operand[key]`."""

    def run(frame: Frame) -> Any:
        return element(operand(frame), key(frame))

    return run


def index_optional(operand: Code, key: Code) -> Code:
    """`operand[?key]`."""

    def run(frame: Frame) -> Any:
        return _element_optional(operand(frame), key(frame))

    return run


def element(container: Any, key: Any) -> Any:
    if isinstance(container, dict):
        try:
            return container[to_key(key)]
        except KeyError:
            raise no_such_key(key) from None
    if type(container) is list:
        position = _position(key)
        if not 0 <= position < len(container):
            raise CelError(f"index out of bounds: {position}")
        return container[position]
    if type(container) is Optional:
        return _element_optional(container, key)
    raise no_such_key(key)


def _element_optional(container: Any, key: Any) -> Optional:
    if type(container) is Optional:
        if not container.present:
            return NONE
        container = container.value
    if isinstance(container, dict):
        try:
            return some(container[to_key(key)])
        except KeyError:
            return NONE
    if type(container) is list:
        position = _position(key)
        return some(container[position]) if 0 <= position < len(container) else NONE
    return NONE


def _position(key: Any) -> int:
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float and key.is_integer():
        return int(key)
    if type(key) is float:
        raise CelError(f"unsupported index value {key} in list")
    raise CelError(f"unsupported index type '{type_name(key)}' in list")


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
