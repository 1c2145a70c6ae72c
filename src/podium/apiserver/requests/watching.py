"""A watch without its socket: where it starts, and what it has yet to see.

A watcher keeps a place in the collection's history and reads on from there whenever it is woken;
nothing is queued for it. An object that begins or ceases to match the watcher's selection is added
or deleted in its eyes. A watcher that the history has overtaken gets `Overtaken`, and its client
starts again with a list.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from podium.apiserver.requests import query
from podium.apiserver.requests.query import ListOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.selectors import selection_of
from podium.apiserver.store.collection import Change, HistoryLost
from podium.apiserver.store.stored import Stored
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource

_MAX_EVENTS: Final = 500
_MAX_BYTES: Final = 1 << 20


class EventType(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


class Overtaken(Exception):
    """The watcher was too slow: what it had to see is forgotten."""


class WatchedChange(NamedTuple):
    """Something that a watcher sees."""

    type: EventType
    version: Stored
    """The object, in the version whose body is `body` except perhaps for its revision."""
    body: bytes


class Watch:
    """One watcher of one collection."""

    def __init__(
        self, registry: Registry, resource: ApiResource, namespace: str, options: ListOptions
    ) -> None:
        self._store = registry.store
        self._collection = registry.collection(resource)
        self._namespace = namespace
        self._selection = selection_of(resource, options.label_selector, options.field_selector)
        start = _start(options)
        self._seen_revision = start
        """Everything up to here is known to the client."""
        fresh = start == 0
        initial = options.send_initial_events
        if initial is None:
            initial = fresh
        self.initial: list[Stored] = self._list_matching() if initial else []
        """What is there already, to be reported first."""
        self.tells_end_of_initial = initial and options.allow_bookmarks
        if initial or fresh:
            self._place = self._collection.history.end
            self._seen_revision = max(start, self._store.revision)
        else:
            self._place = self._place_after(start)
        self._listener = object()

    def _list_matching(self) -> list[Stored]:
        found = self._collection.current(self._namespace)
        if self._selection.selects_all:
            return found
        return [version for version in found if self._selection.matches(version)]

    def _place_after(self, revision: int) -> int:
        try:
            return self._collection.history.place_after(revision)
        except HistoryLost as lost:
            # upstream: the second number is the oldest revision that could still be watched from.
            raise status_errors.expired(
                f"too old resource version: {revision} ({lost.start + 1})"
            ) from None

    def listen(self, wake: Callable[[], None]) -> None:
        """Be woken when there may be something to see."""
        self._collection.listeners[self._listener] = wake

    def close(self) -> None:
        self._collection.listeners.pop(self._listener, None)

    @property
    def revision(self) -> int:
        """The revision up to which a watcher without pending changes has seen everything."""
        return max(self._seen_revision, self._store.published_revision)

    def poll_events(self) -> list[WatchedChange]:
        """What happened since the last call, oldest first; at most a batch of it."""
        try:
            changes = self._collection.history.since(self._place, limit=_MAX_EVENTS)
        except HistoryLost:
            raise Overtaken from None
        published = self._store.published_revision
        events: list[WatchedChange] = []
        size = 0
        for change in changes:
            if change.revision > published or size > _MAX_BYTES:
                break
            self._place += 1
            if change.revision > self._seen_revision:
                event = self._to_event(change)
                if event is not None:
                    events.append(event)
                    size += len(event.body)
        return events

    @property
    def is_behind(self) -> bool:
        """Whether there are changes that it was not told of yet, though it may be."""
        try:
            following = self._collection.history.since(self._place, limit=1)
        except HistoryLost:
            return True
        return bool(following) and following[0].revision <= self._store.published_revision

    def _to_event(self, change: Change) -> WatchedChange | None:
        before, after = change.before, change.after
        some = before or after
        if self._namespace and some is not None and some.namespace != self._namespace:
            return None
        matches = self._selection.matches
        if after is not None and matches(after):
            if before is not None and matches(before):
                return WatchedChange(EventType.MODIFIED, after, after.body)
            return WatchedChange(EventType.ADDED, after, after.body)
        if before is not None and matches(before):
            return WatchedChange(EventType.DELETED, before, change.departed)
        return None


def _start(options: ListOptions) -> int:
    try:
        return query.revision(options.resource_version)
    except ValueError as problem:
        raise status_errors.internal(str(problem)) from None
