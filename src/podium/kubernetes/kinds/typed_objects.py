"""The kinds of objects scheduling reads, and the functions that decode them.

`decode_object` takes raw data from a file that a person may have written: it is tolerant of nulls
as Kubernetes is, exact about where something is wrong and, if `strict`, refuses fields that do not
exist. `decode_json` and `decode_as` take bytes from an API server, which has checked them already,
and are as quick as msgspec; they turn to the careful way only when the quick one fails.

Contract: an object that leaves here has a name, and every quantity in it parses.

Pages of lists as API servers send them, straight into typed objects. The metadata of a page can be
read apart from its items: whoever knows where the list goes on can ask for the next page before it
decodes this one.

Contract: that of `kinds.decode_as` for every item. One that cannot be read is passed over and told.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

import msgspec

from podium.golang.documents import SourceDocument
from podium.golang.errors import ObjectError, UnknownKind, closest, raise_first
from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.kinds.devices import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup, Workload
from podium.kubernetes.kinds.reading import describe_value, read_raw
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.kubernetes.kinds.strict_decoding import convert_strictly, is_countable
from podium.kubernetes.kinds.workloads import (
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

__all__ = [
    "KINDS",
    "KubeObject",
    "ObjectError",
    "UnknownKind",
    "check_object",
    "convert_object",
    "decode_as",
    "decode_document",
    "decode_json",
    "decode_object",
]

T = TypeVar("T", bound=KubeObject)
S = TypeVar("S", bound=KubeStruct)

# Which Struct decodes which (apiVersion, kind).
KINDS: dict[tuple[str, str], type[KubeObject]] = {
    (struct().api_version, struct().kind): struct
    for struct in (
        Pod,
        Node,
        Namespace,
        Service,
        ReplicationController,
        ReplicaSet,
        StatefulSet,
        PriorityClass,
        PodDisruptionBudget,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        ResourceClaim,
        ResourceClaimTemplate,
        ResourceSlice,
        DeviceClass,
        DeviceTaintRule,
        PodGroup,
        Workload,
    )
}


class _TypeMeta(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


_TYPE_META = msgspec.json.Decoder(_TypeMeta)
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_DECODERS: dict[type, msgspec.json.Decoder[DecodedValue]] = {
    struct: msgspec.json.Decoder(struct) for struct in KINDS.values()
}


def decode_object(raw: object, *, strict: bool) -> KubeObject:
    """The typed object behind raw data, or an ObjectError; UnknownKind if it is none of KINDS."""
    if not isinstance(raw, Mapping):
        raise ObjectError("", f"expected a Kubernetes object, got {describe_value(raw)}")
    return convert_object(raw, _struct_of(raw.get("apiVersion"), raw.get("kind")), strict=strict)


def decode_document(document: SourceDocument, *, strict: bool) -> KubeObject:
    """`decode_object` with errors that name the file; UnknownKind passes through as it is."""
    try:
        return decode_object(document.value, strict=strict)
    except UnknownKind:
        raise
    except ObjectError as error:
        raise document.error(error.problem, path=error.path, remedy=error.remedy) from None


def decode_json(data: bytes | msgspec.Raw) -> KubeObject:
    """The typed object in JSON that an API server sent, which names its own kind."""
    try:
        meta = _TYPE_META.decode(data)
    except _UNDECODABLE:
        return decode_object(_raw_object(data), strict=False)
    return decode_as(data, _struct_of(meta.api_version, meta.kind))


def decode_as(data: bytes | msgspec.Raw, struct: type[T]) -> T:
    """The typed object in JSON whose kind is known, as for the items of a list or watch."""
    try:
        decoded: T = _decoder_of(struct).decode(data)
    except _UNDECODABLE:
        return convert_object(_raw_object(data), struct, strict=False)
    check_object(decoded)
    return decoded


def _decoder_of(struct: type) -> msgspec.json.Decoder[DecodedValue]:
    """The decoder of a kind; that of one that is none of KINDS is made when it is first met."""
    found = _DECODERS.get(struct)
    if found is None:
        found = _DECODERS[struct] = msgspec.json.Decoder(struct)
    return found


def convert_object(raw: Mapping[str, object], struct: type[S], *, strict: bool) -> S:
    """Raw data as an object of a Struct that the caller has chosen, one of KINDS or not."""
    decoded = convert_struct(raw, struct, strict=strict)
    raise_first(_problems_of_name(decoded, raw))
    return decoded


def convert_struct(raw: Mapping[str, object], struct: type[S], *, strict: bool = False) -> S:
    """The same for a part of an object, which has no name."""
    decoded = convert_strictly(raw, struct) if strict else _convert_quickly(raw, struct)
    if decoded is not None:
        return decoded
    found = read_raw(raw, struct)
    raise_first([*found.wrong, *(found.unknown if strict else ())])
    return _convert_settled(found.settled, struct)


def _convert_quickly(raw: Mapping[str, object], struct: type[S]) -> S | None:
    """None if it has to be looked at more closely."""
    try:
        decoded = msgspec.convert(raw, struct)
    except msgspec.ValidationError:
        return None
    return decoded if is_countable(decoded) else None


def _convert_settled(settled: object, struct: type[S]) -> S:
    try:
        return msgspec.convert(settled, struct)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        raise ObjectError(place.strip(".`"), problem) from None


def check_object(decoded: KubeStruct) -> None:
    """What the contract says of an object, for one that was decoded elsewhere. Raises
    ObjectError."""
    wrong = _problems_of_name(decoded)
    if not is_countable(decoded):
        wrong += read_raw(msgspec.to_builtins(decoded), type(decoded)).wrong
    raise_first(wrong)


def _problems_of_name(
    decoded: KubeStruct, raw: Mapping[str, object] | None = None
) -> list[ObjectError]:
    metadata = getattr(decoded, "metadata", None)
    if isinstance(metadata, ObjectMeta) and metadata.name:
        return []
    written = raw.get("metadata") if raw else None
    generated = isinstance(written, Mapping) and "generateName" in written
    remedy = "only an API server makes one from generateName" if generated else ""
    return [ObjectError("metadata.name", "is missing", remedy)]


def _raw_object(data: bytes | msgspec.Raw) -> JsonObject:
    try:
        raw = msgspec.json.decode(data)
    except _UNDECODABLE as error:
        raise ObjectError("", f"is not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ObjectError("", f"expected a Kubernetes object, got {describe_value(raw)}")
    return raw


def _struct_of(api_version: object, kind: object) -> type[KubeObject]:
    kind, api_version = _name_field("kind", kind), _name_field("apiVersion", api_version)
    struct = KINDS.get((api_version, kind))
    if struct is not None:
        return struct
    group = api_version.rpartition("/")[0]
    siblings = {k: version for version, k in KINDS if version.rpartition("/")[0] == group}
    if kind in siblings:
        problem = f"{kind} is not read in version {api_version}"
        raise ObjectError("apiVersion", problem, f"write it as {siblings[kind]}")
    raise UnknownKind(api_version, kind, closest(kind, sorted(siblings), cutoff=0.85))


def _name_field(field: str, written: object) -> str:
    if isinstance(written, str) and written:
        return written
    if written:
        raise ObjectError(field, f"expected a string, got {describe_value(written)}")
    raise ObjectError(field, "is missing", "every Kubernetes object names its apiVersion and kind")


class ListMeta(msgspec.Struct, rename="camel", frozen=True):
    """`continue_` is empty on the last page."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Head(msgspec.Struct):
    metadata: ListMeta = ListMeta()


class _Items(msgspec.Struct, Generic[T]):
    items: list[T] | None = None


class _RawItems(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


class DecodedItems(NamedTuple, Generic[T]):
    """`problems` tell of the items that could not be read."""

    items: list[T]
    problems: list[str]


_HEAD = msgspec.json.Decoder(_Head)
_RAW_ITEMS = msgspec.json.Decoder(_RawItems)
_ITEMS: dict[type, msgspec.json.Decoder[DecodedValue]] = {}


def decode_list_meta(data: bytes) -> ListMeta:
    """Raises ObjectError if it is no list."""
    try:
        return _HEAD.decode(data).metadata
    except _UNDECODABLE as problem:
        raise ObjectError("", f"is no list: {problem}") from None


def decode_list_items(data: bytes, struct: type[T]) -> DecodedItems[T]:
    """Raises ObjectError if it is no list."""
    decoder = _ITEMS.get(struct)
    if decoder is None:
        decoder = _ITEMS[struct] = msgspec.json.Decoder(_Items[struct])  # type: ignore[valid-type]
    try:
        items: list[T] = decoder.decode(data).items or []
        for item in items:
            check_object(item)
    except (*_UNDECODABLE, ObjectError):
        return _decode_one_by_one(data, struct)
    return DecodedItems(items, [])


def _decode_one_by_one(data: bytes, struct: type[T]) -> DecodedItems[T]:
    try:
        written = _RAW_ITEMS.decode(data).items or []
    except _UNDECODABLE as problem:
        raise ObjectError("", f"is no list: {problem}") from None
    found: DecodedItems[T] = DecodedItems([], [])
    for item in written:
        try:
            found.items.append(decode_as(item, struct))
        except ObjectError as problem:
            found.problems.append(" ".join((*_name_in(item), str(problem))))
    return found


class _Named(msgspec.Struct, frozen=True):
    namespace: str = ""
    name: str = ""


class _NamedObject(msgspec.Struct):
    metadata: _Named = _Named()


def _name_in(item: msgspec.Raw) -> Iterator[str]:
    """Which object it is, if that can be read."""
    try:
        metadata = msgspec.json.decode(item, type=_NamedObject).metadata
    except _UNDECODABLE:
        return
    name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
    if name:
        yield f"{name}:"
