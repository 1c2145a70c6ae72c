"""The envelope around a protobuf object: four magic bytes, its kind, and its message."""

from typing import Final, NamedTuple

from podium.apiserver.json_values import JsonObject
from podium.apiserver.protobuf.reading import read_message
from podium.apiserver.protobuf.wire import FieldReader, WireError, bytes_field
from podium.apiserver.protobuf.writing import write_message
from podium.apiserver.schema import Schema, schema_of
from podium.apiserver.schema.catalogue import notation

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
_MAGIC: Final = b"k8s\x00"
_OLDER: Final = {("policy", "v1beta1", "Eviction"): ("policy", "v1", "Eviction")}


class Enveloped(NamedTuple):
    kind: str
    api_version: str
    value: JsonObject


def decode(body: bytes) -> Enveloped:
    """The object in an envelope; one of an unknown kind has nothing but its kind."""
    if not body.startswith(_MAGIC):
        raise WireError(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    kind = api_version = ""
    message = b""
    reader = FieldReader()
    for number, found in reader.fields_of(body[len(_MAGIC) :]):
        if number == 1 and isinstance(found, bytes):
            texts = reader.fields_of(found)
            names = {place: text for place, text in texts if isinstance(text, bytes)}
            api_version = names.get(1, b"").decode("utf-8", "replace")
            kind = names.get(2, b"").decode("utf-8", "replace")
        elif number == 2 and isinstance(found, bytes):
            message = found
    group, _, version = api_version.rpartition("/")
    try:
        schema = schema_of(*_OLDER.get((group, version, kind), (group, version, kind)))
    except KeyError:
        return Enveloped(kind, api_version, {})
    return Enveloped(kind, api_version, read_message(schema.root, message, reader))


def encode(schema: Schema, value: JsonObject) -> bytes:
    """An object; if it does not say its kind, that is the schema's."""
    api_version = value.get("apiVersion") or schema.api_version
    return enveloped(api_version, schema.kind, write_message(schema.root, value))


def encode_list(schema: Schema, value: JsonObject) -> bytes:
    """A list of objects of the schema's kind."""
    metadata = notation().struct("meta", "ListMeta")
    message = bytes_field(1, write_message(metadata, value.get("metadata") or {}))
    items = [bytes_field(2, write_message(schema.root, item)) for item in value["items"]]
    return enveloped(value["apiVersion"], value["kind"], message + b"".join(items))


def enveloped(api_version: str, kind: str, message: bytes) -> bytes:
    """A message with its kind, as it goes over the wire."""
    names = bytes_field(1, api_version.encode()) + bytes_field(2, kind.encode())
    return _MAGIC + bytes_field(1, names) + bytes_field(2, message)
