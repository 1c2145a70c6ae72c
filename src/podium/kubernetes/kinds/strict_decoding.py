"""JSON in which nothing is wrong, straight into typed objects.

A dump of a large cluster is hundreds of megabytes of objects that are all right. Looking through
each for unknown fields, numbers that do not fit and quantities that are none takes several times as
long as decoding it, so the look is left to msgspec too: from every Struct a second one is derived
that knows the names in `UNREAD`, refuses all others, and bounds numbers and quantities. What it
decodes is thrown away.

Contract: `decode_strictly` gives the object only if `kinds.convert_object` would give the same one
and `shapes` would find nothing unknown in it. Otherwise it gives None, which says nothing about
what is wrong: the careful way does, and takes some objects that this one does not.
"""

from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import inspect

from podium.golang.arithmetic import INT64_MAX, INT64_MIN
from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct

T = TypeVar("T", bound=KubeObject)

_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_INTEGER: Final = Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)]
_QUANTITY: Final = (
    Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,15}(?:\.[0-9]{1,6})?(?:m|k|[KMGT]i?)?\Z")]
    | _INTEGER
)
"""The plain ones; all others are for the careful way."""

_CHECKS: dict[type, msgspec.json.Decoder[object]] = {}
_DECODERS: dict[type, msgspec.json.Decoder[DecodedValue]] = {}
_DERIVED: dict[tuple[type, bool], type] = {}


def decode_strictly(data: bytes | msgspec.Raw, struct: type[T]) -> T | None:
    """The object, if it has a name and nothing in it is wrong."""
    check = _CHECKS.get(struct)
    if check is None:
        check = _CHECKS[struct] = msgspec.json.Decoder(_checked(struct))
        _DECODERS[struct] = msgspec.json.Decoder(struct)
    try:
        check.decode(data)
        decoded: T = _DECODERS[struct].decode(data)
    except _UNDECODABLE:
        return None
    return decoded if decoded.metadata.name else None


def _checked(struct: type, *, forbids: bool = True, at_root: bool = True) -> type:
    """The Struct that refuses what is wrong; what programs write, the status, may have more."""
    found = _DERIVED.get((struct, forbids))
    if found is not None:
        return found
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    fields: list[tuple[str, object, object]] = []
    names: dict[str, str] = {}
    for field in info.fields:
        inside = forbids and not (at_root and field.encode_name == "status")
        fields.append((field.name, _type(field.type, inside), msgspec.UNSET))
        names[field.name] = field.encode_name
    if forbids and issubclass(struct, KubeStruct):
        for at, name in enumerate(sorted(struct.UNREAD - set(names.values()))):
            fields.append((f"unread_{at}", msgspec.Raw, msgspec.UNSET))
            names[f"unread_{at}"] = name
    made = msgspec.defstruct(
        f"Checked{struct.__name__}",
        fields,
        rename=names,
        forbid_unknown_fields=forbids,
    )
    _DERIVED[struct, forbids] = made
    return made


def _type(info: inspect.Type, forbids: bool) -> object:
    match info:
        case inspect.UnionType():
            kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            if len(kinds) == 3:
                return _QUANTITY | None
            inner = _type(kinds[0], forbids) if len(kinds) == 1 else str | _INTEGER
            return inner if inner is msgspec.Raw else inner | None  # type: ignore[operator]
        case inspect.StructType(cls=struct):
            return _checked(struct, forbids=forbids, at_root=False)
        case inspect.VarTupleType():
            element = _type(info.item_type, forbids)
            return msgspec.Raw if element is msgspec.Raw else list[element]  # type: ignore[valid-type]
        case inspect.DictType():
            value = _type(info.value_type, forbids)
            return msgspec.Raw if value is msgspec.Raw else dict[str, value]  # type: ignore[valid-type]
        case inspect.IntType():
            return _INTEGER
    return msgspec.Raw
