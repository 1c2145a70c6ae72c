"""Watch events in protobuf, for clients that accept nothing else.

Each event is a message of its type and its object, with its length before it in four bytes. The
object has the envelope that an object has by itself.
"""

from collections.abc import Iterator
from typing import Final

from podium.apiserver import protobuf
from podium.apiserver.answers.presenters import WholePresenter
from podium.apiserver.requests.listing import Listed
from podium.apiserver.requests.watching import Event, EventType
from podium.apiserver.store.stored import Stored, plain
from podium.golang.json_values import JsonObject
from podium.kubernetes import conversion
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.schema import Schema


class ProtobufPresenter:
    """Objects and lists leave it as JSON: the answer to a request is written when it is whole."""

    content_type: Final = b"application/vnd.kubernetes.protobuf;stream=watch"

    def __init__(self, resource: Resource, schema: Schema) -> None:
        self._resource = resource
        self._schema = schema
        self._whole = WholePresenter(resource)

    def one(self, version: Stored) -> bytes:
        return self._whole.one(version)

    def many(self, listed: Listed) -> Iterator[bytes]:
        return self._whole.many(listed)

    def event(self, event: Event) -> bytes:
        obj = conversion.shown(self._resource, plain(event.body))
        return protobuf.encode_event(event.type, protobuf.encode(self._schema, obj))

    def bookmark(self, obj: JsonObject) -> bytes:
        return protobuf.encode_event(EventType.BOOKMARK, protobuf.encode(self._schema, obj))

    def error(self, status: JsonObject) -> bytes:
        return protobuf.encode_event(EventType.ERROR, protobuf.encode_status(status))
