"""Objects, lists and watch events as bytes, in the form that the client accepted.

The whole form splices stored bytes and encodes nothing. The other forms decode: metadata only, and
rows of a table.

Watch events in protobuf, for clients that accept nothing else. Each event is a message of its
type and its object, with its length before it in four bytes. The object has the envelope that
an object has by itself.

Objects as rows of a table, which is what `kubectl get` prints. A row carries the cells and, as
the client wishes, the object, its metadata or nothing. Only the first event of a watch says
what the columns are.
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from podium.apiserver import protobuf
from podium.apiserver.requests.listing import Listed
from podium.apiserver.requests.watching import EventType, WatchedChange
from podium.apiserver.store.stored import Stored, head_of, plain
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import conversion, status_errors
from podium.kubernetes.kinds.record import Printer
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules import field_errors
from podium.kubernetes.schema import Schema

_ITEMS_PER_CHUNK: Final = 500
_EVENT_HEADS: Final = {
    type_: b'{"type":"%s","object":' % type_.encode()
    for type_ in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}


class Presenter(Protocol):
    """Shows the objects of one resource in one form."""

    @property
    def content_type(self) -> bytes:
        """Of a watch."""

    def one(self, version: Stored) -> bytes: ...
    def many(self, listed: Listed) -> Iterator[bytes]:
        """A list in chunks, so that a long one need not be in memory twice."""

    def event(self, event: WatchedChange) -> bytes:
        """A line of a watch."""

    def bookmark(self, obj: JsonObject) -> bytes:
        """The line of a bookmark; `obj` has nothing but its revision and annotations."""

    def error(self, status: JsonObject) -> bytes:
        """The line that ends a watch which cannot go on."""


def event_line(type_: str, shown: bytes) -> bytes:
    return b"%s%s}\n" % (_EVENT_HEADS[type_], shown)


class JsonLines:
    """What all forms in JSON have in common."""

    content_type: Final = b"application/json"

    def error(self, status: JsonObject) -> bytes:
        return event_line("ERROR", encode(status))


class WholePresenter(JsonLines):
    """Objects as they are."""

    def __init__(self, resource: ApiResource) -> None:
        self._resource = resource
        self._head = head_of(resource)
        self._item_head = self._head if resource.is_custom else b"{"
        self._own_form = conversion.has_own_form(resource)

    def one(self, version: Stored) -> bytes:
        return self._head + self._body(version.body)

    def many(self, listed: Listed) -> Iterator[bytes]:
        metadata = listed.metadata
        if self._resource.is_custom:
            metadata = {"continue": "", **metadata}  # upstream: written even when empty
        start = {
            "kind": self._resource.list_kind,
            "apiVersion": self._resource.api_version,
            "metadata": metadata,
        }
        yield encode(start)[:-1] + b',"items":['
        head, body = self._item_head, self._body
        yield from _chunks(
            [head + body(version.body) for version in page] for page in _pages(listed)
        )
        yield b"]}\n"

    def event(self, event: WatchedChange) -> bytes:
        return b"%s%s%s}\n" % (_EVENT_HEADS[event.type], self._head, self._body(event.body))

    def bookmark(self, obj: JsonObject) -> bytes:
        return event_line("BOOKMARK", encode(obj))

    def _body(self, body: bytes) -> bytes:
        if not self._own_form:
            return body
        return encode(conversion.to_served(self._resource, plain(body)))[1:]


class MetadataPresenter(JsonLines):
    """Objects reduced to their metadata."""

    def __init__(self, version: str) -> None:
        self._api_version = f"meta.k8s.io/{version}"

    def one(self, version: Stored) -> bytes:
        return encode(self.show_metadata(plain(version.body)))

    def many(self, listed: Listed) -> Iterator[bytes]:
        start = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": self._api_version,
            "metadata": listed.metadata,
        }
        yield encode(start)[:-1] + b',"items":['
        yield from _chunks([self.one(version) for version in page] for page in _pages(listed))
        yield b"]}\n"

    def event(self, event: WatchedChange) -> bytes:
        return event_line(event.type, encode(self.show_metadata(plain(event.body))))

    def bookmark(self, obj: JsonObject) -> bytes:
        return event_line("BOOKMARK", encode(self.show_metadata(obj)))

    def show_metadata(self, obj: JsonObject) -> JsonObject:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": self._api_version,
            "metadata": obj["metadata"],
        }


def _pages(listed: Listed) -> Iterator[list[Stored]]:
    for first in range(0, len(listed.versions), _ITEMS_PER_CHUNK):
        yield listed.versions[first : first + _ITEMS_PER_CHUNK]


def _chunks(pages: Iterator[list[bytes]]) -> Iterator[bytes]:
    """The items of all pages with commas between them."""
    between = b""
    for items in pages:
        yield between + b",".join(items)
        between = b","


Clock = Callable[[], float]


class ProtobufPresenter:
    """Objects and lists leave it as JSON: the answer to a request is written when it is whole."""

    content_type: Final = b"application/vnd.kubernetes.protobuf;stream=watch"

    def __init__(self, resource: ApiResource, schema: Schema) -> None:
        self._resource = resource
        self._schema = schema
        self._whole = WholePresenter(resource)

    def one(self, version: Stored) -> bytes:
        return self._whole.one(version)

    def many(self, listed: Listed) -> Iterator[bytes]:
        return self._whole.many(listed)

    def event(self, event: WatchedChange) -> bytes:
        obj = conversion.to_served(self._resource, plain(event.body))
        return protobuf.encode_event(event.type, protobuf.encode(self._schema, obj))

    def bookmark(self, obj: JsonObject) -> bytes:
        return protobuf.encode_event(EventType.BOOKMARK, protobuf.encode(self._schema, obj))

    def error(self, status: JsonObject) -> bytes:
        return protobuf.encode_event(EventType.ERROR, protobuf.encode_status(status))


_INCLUDED = ("Metadata", "None", "Object")


class TablePresenter(JsonLines):
    def __init__(
        self,
        resource: ApiResource,
        printer: Printer,
        version: str,
        included: str,
        clock: Callable[[], float],
    ) -> None:
        if included not in ("", *_INCLUDED):
            problem = field_errors.invalid(
                "includeObject", included, "must be 'Metadata', 'Object', 'None', or empty"
            )
            raise status_errors.bad_request(f"Unable to convert to Table as requested: {problem}")
        self._resource = resource
        self._printer = printer
        self._version = version
        self._included = included or "Metadata"
        self._clock = clock
        self._metadata = MetadataPresenter(version)
        self._columns_told = False

    def one(self, version: Stored) -> bytes:
        return self.table_of(plain(version.body))

    def table_of(self, value: JsonObject) -> bytes:
        """A table with the row of one object."""
        metadata = {"resourceVersion": value["metadata"].get("resourceVersion", "")}
        return encode(self._table(metadata, [self._row(value)]))

    def many(self, listed: Listed) -> Iterator[bytes]:
        rows = [self._row(plain(version.body)) for version in listed.versions]
        yield encode(self._table(listed.metadata, rows)) + b"\n"

    def event(self, event: WatchedChange) -> bytes:
        value = plain(event.body)
        metadata = {"resourceVersion": value["metadata"].get("resourceVersion", "")}
        return event_line(event.type, self._encode_table(metadata, [self._row(value)]))

    def bookmark(self, obj: JsonObject) -> bytes:
        row = self._row(obj)
        metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        return event_line("BOOKMARK", self._encode_table(metadata, [row]))

    def _encode_table(self, metadata: JsonObject, rows: list[JsonObject]) -> bytes:
        table = self._table(metadata, rows)
        if self._columns_told:
            table["columnDefinitions"] = None
        self._columns_told = True
        return encode(table)

    def _table(self, metadata: JsonObject, rows: list[JsonObject]) -> JsonObject:
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self._version}",
            "metadata": metadata,
            "columnDefinitions": self._printer.columns,
            "rows": rows,
        }

    def _row(self, value: JsonObject) -> JsonObject:
        shown = conversion.to_served(self._resource, value)
        obj = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, **shown}
        row: JsonObject = {"cells": self._printer.cells(obj, self._clock())}
        conditions = self._printer.row_conditions(obj)
        if conditions:
            row["conditions"] = conditions
        if self._included == "Object":
            row["object"] = obj
        elif self._included == "Metadata":
            row["object"] = self._metadata.show_metadata(obj)
        else:
            row["object"] = None
        return row
