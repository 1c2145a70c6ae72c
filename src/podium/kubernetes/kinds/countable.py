"""Whether what is to be counted in a decoded object can be.

msgspec takes any text for a quantity and integers of any size. Objects from an API server are
decoded by it alone, so the look at numbers comes afterwards, along the few fields that have some.
"""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import inspect

from podium.golang.arithmetic import INT64_MAX, INT64_MIN
from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.rules.quantity import QuantityError, nano

_Check: TypeAlias = Callable[[DecodedValue], bool]
_CHECKS: dict[type[KubeStruct], _Check] = {}


def is_countable(decoded: KubeStruct) -> bool:
    """Whether all quantities in it parse, and all integers fit 64 bits."""
    struct = type(decoded)
    check = _CHECKS.get(struct)
    if check is None:
        check = _CHECKS[struct] = _check_of_struct(struct) or _is_fine
    return check(decoded)


def _check_of_struct(struct: type[KubeStruct]) -> _Check | None:
    """None if nothing in it is to be counted."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    found = ((field.name, _check_of(field.type)) for field in info.fields)
    checks = [(name, check) for name, check in found if check is not None]

    def check(value: DecodedValue) -> bool:
        for name, check_field in checks:
            inner = getattr(value, name)
            if inner is not None and not check_field(inner):
                return False
        return True

    return check if checks else None


def _check_of(info: inspect.Type) -> _Check | None:
    match info:
        case inspect.UnionType():
            kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            if len(kinds) == 1:
                return _check_of(kinds[0])
            return _is_quantity if len(kinds) == 3 else _fits
        case inspect.IntType():
            return _fits
        case inspect.StructType(cls=struct) if issubclass(struct, KubeStruct):
            return _check_of_struct(struct)
        case inspect.VarTupleType():
            return _check_of_each(_check_of(info.item_type))
        case inspect.DictType():
            # upstream: a null map value may stand where a time would (disruptedPods).
            check_value = _check_of_each(_check_of(info.value_type))
            return None if check_value is None else lambda found: check_value(found.values())
    return None


def _check_of_each(check: _Check | None) -> _Check | None:
    if check is None:
        return None
    return lambda found: all(each is None or check(each) for each in found)


def _is_fine(_value: DecodedValue) -> bool:
    return True


def _fits(value: DecodedValue) -> bool:
    return type(value) is not int or INT64_MIN <= value <= INT64_MAX


def _is_quantity(value: DecodedValue) -> bool:
    try:
        nano(value)
    except QuantityError:
        return False
    return True
