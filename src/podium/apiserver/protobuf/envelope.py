"""The envelope around a protobuf object: four magic bytes, its kind, and its message.

Status answers as protobuf: the one kind that the server writes and no client stores.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from podium.apiserver.protobuf.reading import read_message
from podium.apiserver.protobuf.wire import FieldReader, WireError, bytes_field, fields_of_message
from podium.apiserver.protobuf.writing import write_message
from podium.golang.json_values import JsonObject
from podium.kubernetes.schema import Schema, schema_of
from podium.kubernetes.schema.catalogue import built_in_struct

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
_MAGIC: Final = b"k8s\x00"
_TOP: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw] | None)
_AT_A_TIME: Final = 64
_OLDER: Final = {("policy", "v1beta1", "Eviction"): ("policy", "v1", "Eviction")}
_OF_EVERY_GROUP: Final = frozenset({"DeleteOptions"})
"""Kinds of `meta.k8s.io/v1` that Go's clients send under the version of what they act on."""


class Enveloped(NamedTuple):
    kind: str
    api_version: str
    value: JsonObject


class UnknownMessageKind(Exception):
    """There are no field numbers by which the message could be read."""

    def __init__(self, kind: str, api_version: str) -> None:
        super().__init__(kind, api_version)
        self.kind = kind
        self.api_version = api_version


def decode(body: bytes, kind: str = "", api_version: str = "") -> Enveloped:
    """The object in an envelope; `kind` and `api_version` hold where it does not say its own.

    Raises WireError, or UnknownMessageKind: a message that cannot be read never passes for an
    empty one.
    """
    if not body.startswith(_MAGIC):
        raise WireError(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    reader = FieldReader()
    message = memoryview(b"")
    for number, found in reader.fields_of(memoryview(body)[len(_MAGIC) :]):
        if number == 1 and isinstance(found, memoryview):
            names = {
                place: str(text, "utf-8", "replace")
                for place, text in reader.fields_of(found)
                if isinstance(text, memoryview)
            }
            api_version = names.get(1) or api_version
            kind = names.get(2) or kind
        elif number == 2 and isinstance(found, memoryview):
            message = found
    root = _schema(kind, api_version).root
    return Enveloped(kind, api_version, read_message(root, message, reader))


def _schema(kind: str, api_version: str) -> Schema:
    group, _, version = api_version.rpartition("/")
    if kind in _OF_EVERY_GROUP:
        group, version = "meta.k8s.io", "v1"
    try:
        schema = schema_of(*_OLDER.get((group, version, kind), (group, version, kind)))
    except KeyError:
        raise UnknownMessageKind(kind, api_version) from None
    if not fields_of_message(schema.root.group, schema.root.name):
        raise UnknownMessageKind(kind, api_version)
    return schema


def encode(schema: Schema, value: JsonObject) -> bytes:
    """An object; if it does not say its kind, that is the schema's."""
    api_version = value.get("apiVersion") or schema.api_version
    return wrap_message(api_version, schema.kind, write_message(schema.root, value))


def encode_list(schema: Schema, json_text: bytes) -> Iterator[bytes]:
    """A list of objects of the schema's kind, from its JSON. A message begins with its length, so
    all of it comes at the end; the empty parts before leave others their turn."""
    fields = _TOP.decode(json_text)
    written = msgspec.json.decode(fields.get("metadata", b"{}")) or {}
    parts = [bytes_field(1, write_message(built_in_struct("meta", "ListMeta"), written))]
    items = _ITEMS.decode(fields["items"]) or []
    for start in range(0, len(items), _AT_A_TIME):
        some = (msgspec.json.decode(each) for each in items[start : start + _AT_A_TIME])
        parts.extend(bytes_field(2, write_message(schema.root, item)) for item in some)
        yield b""
    kind, api_version = (msgspec.json.decode(fields[name]) for name in ("kind", "apiVersion"))
    yield wrap_message(api_version, kind, b"".join(parts))


def encode_event(type_: str, obj: bytes) -> bytes:
    """An event of a watch with its length before it; `obj` is in its envelope."""
    message = bytes_field(1, type_.encode()) + bytes_field(2, bytes_field(1, obj))
    return len(message).to_bytes(4, "big") + message


def wrap_message(api_version: str, kind: str, message: bytes) -> bytes:
    """A message with its kind, as it goes over the wire."""
    names = bytes_field(1, api_version.encode()) + bytes_field(2, kind.encode())
    return _MAGIC + bytes_field(1, names) + bytes_field(2, message)


def encode_status(status: JsonObject) -> bytes:
    return wrap_message("v1", "Status", write_message(built_in_struct("meta", "Status"), status))
