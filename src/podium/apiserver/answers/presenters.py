"""Objects, lists and watch events as bytes, in the form that the client accepted.

The whole form splices stored bytes and encodes nothing. The other forms decode: metadata only, and
rows of a table.
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from podium.apiserver.requests.listing import Listed
from podium.apiserver.requests.watching import Event
from podium.apiserver.store.stored import Stored, head_of, plain
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import conversion
from podium.kubernetes.resources.resource import Resource

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

    def event(self, event: Event) -> bytes:
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

    def __init__(self, resource: Resource) -> None:
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

    def event(self, event: Event) -> bytes:
        return b"%s%s%s}\n" % (_EVENT_HEADS[event.type], self._head, self._body(event.body))

    def bookmark(self, obj: JsonObject) -> bytes:
        return event_line("BOOKMARK", encode(obj))

    def _body(self, body: bytes) -> bytes:
        if not self._own_form:
            return body
        return encode(conversion.shown(self._resource, plain(body)))[1:]


class MetadataPresenter(JsonLines):
    """Objects reduced to their metadata."""

    def __init__(self, version: str) -> None:
        self._api_version = f"meta.k8s.io/{version}"

    def one(self, version: Stored) -> bytes:
        return encode(self.shown(plain(version.body)))

    def many(self, listed: Listed) -> Iterator[bytes]:
        start = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": self._api_version,
            "metadata": listed.metadata,
        }
        yield encode(start)[:-1] + b',"items":['
        yield from _chunks([self.one(version) for version in page] for page in _pages(listed))
        yield b"]}\n"

    def event(self, event: Event) -> bytes:
        return event_line(event.type, encode(self.shown(plain(event.body))))

    def bookmark(self, obj: JsonObject) -> bytes:
        return event_line("BOOKMARK", encode(self.shown(obj)))

    def shown(self, obj: JsonObject) -> JsonObject:
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
