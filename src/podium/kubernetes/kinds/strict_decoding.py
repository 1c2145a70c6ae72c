"""JSON and raw data in which nothing is wrong, straight into typed objects.

A dump of a large cluster is hundreds of megabytes of objects that are all right. Looking through
each for unknown fields, numbers that do not fit and quantities that are none takes several times as
long as decoding it, so the look is left to msgspec too: from every Struct a second one is derived
that knows the names in `UNREAD`, refuses all others, and bounds numbers and quantities. What it
decodes is thrown away.

Contract: `decode_strictly` gives the object only if `reading.read_raw` would find nothing wrong or
unknown in it, and the same one. Otherwise it gives None, which says nothing about what is wrong:
the careful way does, and takes some objects that this one does not.

Whether what is to be counted in a decoded object can be. msgspec takes any text for a quantity and
integers of any size. Objects from an API server are decoded by it alone, so the look at numbers
comes afterwards, along the few fields that have some.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from podium.golang.arithmetic import INT64_MAX, INT64_MIN
from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.rules.quantity import QuantityError, nano

T = TypeVar("T", bound=KubeObject)
S = TypeVar("S", bound=KubeStruct)

_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_INTEGER: Final = Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)]
_QUANTITY: Final = (
    Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,15}(?:\.[0-9]{1,6})?(?:m|k|[KMGT]i?)?\Z")]
    | _INTEGER
)
"""The plain ones; all others are for the careful way."""

_CHECKS: dict[type, msgspec.json.Decoder[object]] = {}
_DECODERS: dict[type, msgspec.json.Decoder[DecodedValue]] = {}
_DERIVED: dict[tuple[type, DecodedValue, bool], type] = {}
_ANYTHING: Final[DecodedValue] = Any


def decode_strictly(data: bytes | msgspec.Raw, struct: type[T]) -> T | None:
    """The object, if it has a name and nothing in it is wrong."""
    check = _CHECKS.get(struct)
    if check is None:
        check = _CHECKS[struct] = msgspec.json.Decoder(_derive_checked_struct(struct, msgspec.Raw))
        _DECODERS[struct] = msgspec.json.Decoder(struct)
    try:
        check.decode(data)
        decoded: T = _DECODERS[struct].decode(data)
    except _UNDECODABLE:
        return None
    return decoded if decoded.metadata.name else None


def convert_strictly(raw: Mapping[str, object], struct: type[S]) -> S | None:
    """The same for raw data, if nothing in it is wrong; it may have no name."""
    try:
        msgspec.convert(raw, _derive_checked_struct(struct, _ANYTHING))
        return msgspec.convert(raw, struct)
    except msgspec.ValidationError:
        return None


def _derive_checked_struct(
    struct: type, skipped: DecodedValue, *, forbids: bool = True, at_root: bool = True
) -> type:
    """The Struct that refuses what is wrong; what programs write, the status, may have more.

    `skipped` is the type of what is not looked at."""
    found = _DERIVED.get((struct, skipped, forbids))
    if found is not None:
        return found
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    fields: list[tuple[str, object, object]] = []
    names: dict[str, str] = {}
    for field in info.fields:
        inside = forbids and not (at_root and field.encode_name == "status")
        fields.append((field.name, _type(field.type, skipped, inside), msgspec.UNSET))
        names[field.name] = field.encode_name
    if forbids and issubclass(struct, KubeStruct):
        for at, name in enumerate(sorted(struct.UNREAD - set(names.values()))):
            fields.append((f"unread_{at}", skipped, msgspec.UNSET))
            names[f"unread_{at}"] = name
    made = msgspec.defstruct(
        f"Checked{struct.__name__}",
        fields,
        rename=names,
        forbid_unknown_fields=forbids,
    )
    _DERIVED[struct, skipped, forbids] = made
    return made


def _type(info: inspect.Type, skipped: DecodedValue, forbids: bool) -> DecodedValue:
    match info:
        case inspect.UnionType():
            kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            if len(kinds) == 3:
                return _QUANTITY | None
            inner = _type(kinds[0], skipped, forbids) if len(kinds) == 1 else str | _INTEGER
            return inner if inner is skipped else inner | None
        case inspect.StructType(cls=struct):
            return _derive_checked_struct(struct, skipped, forbids=forbids, at_root=False)
        case inspect.VarTupleType():
            element = _type(info.item_type, skipped, forbids)
            return skipped if element is skipped else list[element]  # type: ignore[valid-type]
        case inspect.DictType():
            value = _type(info.value_type, skipped, forbids)
            return skipped if value is skipped else dict[str, value]  # type: ignore[valid-type]
        case inspect.IntType():
            return _INTEGER
    return skipped


_Check: TypeAlias = Callable[[DecodedValue], bool]
_COUNTABLE_CHECKS: dict[type[KubeStruct], _Check] = {}


def is_countable(decoded: KubeStruct) -> bool:
    """Whether all quantities in it parse, and all integers fit 64 bits."""
    struct = type(decoded)
    check = _COUNTABLE_CHECKS.get(struct)
    if check is None:
        check = _COUNTABLE_CHECKS[struct] = _check_of_struct(struct) or _is_fine
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
            # upstream: a null map value may be where a time would (disruptedPods).
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
