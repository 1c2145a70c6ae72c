"""One version of one object, as the store keeps it.

Objects are kept as the bytes that answers are made of, because bytes are small and answers are
frequent: a decoded pod takes ten times as much memory, and one that nobody shares is decoded again
in a few microseconds. Next to the bytes stands only what selectors ask for. A version never
changes; a write makes a new one.

The bytes lack the leading `kind` and `apiVersion`, which are the resource's: an object is answered
with them, is in a list without them, and can be shown in each version of a custom resource.

What a write-ahead log takes and gives back, as values.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.resources.resource import ApiResource

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode
NO_LABELS: Final[Mapping[str, str]] = {}


class Stored:
    """A version of an object: who it is, when it was written, and its bytes."""

    __slots__ = ("body", "fields", "labels", "name", "namespace", "revision")

    def __init__(
        self,
        namespace: str,
        name: str,
        revision: int,
        body: bytes,
        labels: Mapping[str, str],
        fields: tuple[str, ...],
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.revision = revision
        self.body = body
        """The object as JSON without the leading `{`, `kind` and `apiVersion`."""
        self.labels = labels
        self.fields = fields
        """The values of the collection's selectable fields, in its order."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def decode(self, resource: ApiResource) -> JsonObject:
        """The object as the resource shows it; the caller may change it."""
        return {"kind": resource.kind, "apiVersion": resource.api_version, **plain(self.body)}

    def at_revision(self, revision: int) -> bytes:
        """The body with another resourceVersion, as watches show objects that leave their sight."""
        value = plain(self.body)
        value["metadata"]["resourceVersion"] = str(revision)
        return body_of(value)


def plain(body: bytes) -> JsonObject:
    """The object of a body, without `kind` and `apiVersion`."""
    return _decode(b"{" + body)


def body_of(value: JsonObject) -> bytes:
    """The bytes of an object without `kind` and `apiVersion`, which it may have or not."""
    stripped = {key: item for key, item in value.items() if key not in ("kind", "apiVersion")}
    try:
        return _encode(stripped)[1:]
    except OverflowError:
        return _encode(_within_64_bits(stripped))[1:]


def _within_64_bits(value: JsonValue) -> JsonValue:
    """Integers that only Python can hold, as the floats that Go reads them as."""
    if isinstance(value, dict):
        return {key: _within_64_bits(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_within_64_bits(item) for item in value]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    return value


def head_of(resource: ApiResource) -> bytes:
    """What precedes a body to make it an object of this resource."""
    return _encode({"kind": resource.kind, "apiVersion": resource.api_version})[:-1] + b","


class Record(NamedTuple):
    """One write: the body of an object's new version, or None where it was deleted."""

    collection: str
    key: str
    revision: int
    body: bytes | None


class Loaded(NamedTuple):
    """What a write-ahead log held when it was opened."""

    revision: int
    objects: dict[str, list[Record]]
    """By collection."""


def checksum_of(record: Record) -> int:
    """What tells a record from one of which a byte has changed."""
    head = f"{record.collection}\0{record.key}\0{record.revision}\0"
    return crc32(record.body or b"", crc32(head.encode()))


def checksum_of_revision(revision: int) -> int:
    return crc32(str(revision).encode())
