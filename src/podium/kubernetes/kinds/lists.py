"""Pages of lists as API servers send them, straight into typed objects.

The metadata of a page can be read apart from its items: whoever knows where the list goes on can
ask for the next page before it decodes this one.

Contract: that of `kinds.decode_as` for every item. One that cannot be read is passed over and told.
"""

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

import msgspec

from podium.golang.errors import ObjectError
from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.typed_objects import check_object, decode_as

T = TypeVar("T", bound=KubeObject)


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
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


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
