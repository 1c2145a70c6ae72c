"""Protobuf as Kubernetes' Go clients speak it, read into JSON values and written from them.

    decode(body) -> (kind, apiVersion, value)       raises WireError, UnknownMessageKind
    encode(schema, value) -> bytes
    encode_list(schema, JSON of a list) -> parts
    encode_event(type, enveloped object) -> bytes
    encode_status(status) -> bytes

Since v1.32 kubectl's own creations and every typed Go client send their objects this way. The
types come from the schemas; what only protobuf has, the number of each field, is in `numbers`.
"""

from podium.apiserver.protobuf.envelope import (
    MEDIA_TYPE,
    Enveloped,
    UnknownMessageKind,
    decode,
    encode,
    encode_event,
    encode_list,
    encode_status,
)
from podium.apiserver.protobuf.wire import WireError

__all__ = [
    "MEDIA_TYPE",
    "Enveloped",
    "UnknownMessageKind",
    "WireError",
    "decode",
    "encode",
    "encode_event",
    "encode_list",
    "encode_status",
]
