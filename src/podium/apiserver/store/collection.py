"""All objects of one resource, in the order of their keys, with their history.

Keys are `namespace/name`, or the name alone, and order as etcd orders them. New keys are merged
into the order when somebody lists, so that creating costs nothing and listing little.

What happened to a collection, as far back as memory allows. The history serves three questions:
what a watch that starts at an older revision has missed, how the collection looked at an older
revision (pages of a list, exact lists), and what a watcher that is being served has not seen
yet. Watchers keep a place in it and nothing else, so a slow one costs no memory: when the
history has moved on past its place, it is cut off.

The length is bounded in changes and in bytes. `start` is the revision from which on everything is
known; asking for anything older raises `HistoryLost`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from podium.apiserver.store.stored import NO_LABELS, Stored, body_of
from podium.golang.json_values import JsonObject

MAX_CHANGES = 20_000
MAX_BYTES = 64 << 20
_SLACK = 8  # trimmed when an eighth over the bound, so that trimming costs little per change


class HistoryLost(Exception):
    """The history does not reach back to the asked revision."""

    def __init__(self, revision: int, start: int) -> None:
        super().__init__(f"revision {revision} is older than {start}")
        self.revision = revision
        self.start = start


class Change:
    """One write: the version before it and the version after it."""

    __slots__ = ("_departed", "after", "before", "revision")

    def __init__(self, before: Stored | None, after: Stored | None, revision: int) -> None:
        self.before = before
        """None: the object was created."""
        self.after = after
        """None: the object was deleted."""
        self.revision = revision
        self._departed: bytes | None = None

    @property
    def version(self) -> Stored:
        """The newer version that there is: which object it was."""
        version = self.after or self.before
        assert version is not None, "a change has a version on one side"
        return version

    @property
    def departed(self) -> bytes:
        """The last sight of an object that was deleted or no longer matches a selector."""
        if self._departed is None:
            assert self.before is not None, "a created object has no earlier version"
            self._departed = self.before.at_revision(self.revision)
        return self._departed

    @property
    def size(self) -> int:
        return len(self.version.body)


_revision = attrgetter("revision")


class History:
    """The latest changes of one collection in the order of their revisions."""

    def __init__(
        self, start: int, *, max_changes: int = MAX_CHANGES, max_bytes: int = MAX_BYTES
    ) -> None:
        self.start = start
        """Changes after this revision are all known."""
        self._changes: list[Change] = []
        self._dropped = 0
        self._bytes = 0
        self._max_changes = max_changes
        self._max_bytes = max_bytes

    @property
    def end(self) -> int:
        """The place after the newest change: where a watcher who knows everything stands."""
        return self._dropped + len(self._changes)

    def append(self, change: Change) -> None:
        self._changes.append(change)
        self._bytes += change.size
        if (
            len(self._changes) > self._max_changes + self._max_changes // _SLACK
            or self._bytes > self._max_bytes + self._max_bytes // _SLACK
        ):
            self._trim()

    def place_after(self, revision: int) -> int:
        """Where a watcher stands who has seen everything up to a revision."""
        if revision < self.start:
            raise HistoryLost(revision, self.start)
        return self._dropped + bisect_right(self._changes, revision, key=_revision)

    def since(self, place: int, *, limit: int) -> Sequence[Change]:
        """The changes from a place on, oldest first; `HistoryLost` if some are forgotten."""
        first = place - self._dropped
        if first < 0:
            raise HistoryLost(0, self.start)
        return self._changes[first : first + limit]

    def undo(self, revision: int) -> dict[str, Stored | None]:
        """What the objects that changed after a revision looked like at it."""
        if revision < self.start:
            raise HistoryLost(revision, self.start)
        earlier: dict[str, Stored | None] = {}
        for change in reversed(self._changes):
            if change.revision <= revision:
                break
            earlier[change.version.key] = change.before
        return earlier

    def _trim(self) -> None:
        kept = len(self._changes)
        size = self._bytes
        drop = 0
        while drop < kept - 1 and (kept - drop > self._max_changes or size > self._max_bytes):
            size -= self._changes[drop].size
            drop += 1
        if drop:
            self.start = self._changes[drop - 1].revision
            del self._changes[:drop]
            self._dropped += drop
            self._bytes = size


FieldReader = Callable[[JsonObject], tuple[str, ...]]


def no_fields(_: JsonObject) -> tuple[str, ...]:
    """The reader of collections that are selected by name and namespace only."""
    return ()


class Collection:
    """The objects of one resource; written to by the store alone."""

    def __init__(self, name: str, read_fields: FieldReader, start: int) -> None:
        self.name = name
        """`pods`, `deployments.apps`: the resource with its group."""
        self.items: dict[str, Stored] = {}
        self.history = History(start)
        self.listeners: dict[object, Callable[[], None]] = {}
        """Called when there is something new to see, by watcher."""
        self._read_fields = read_fields
        self._order: list[str] = []
        self._unordered: list[str] = []
        self._leftovers = 0

    def __len__(self) -> int:
        return len(self.items)

    def get(self, namespace: str, name: str) -> Stored | None:
        return self.items.get(f"{namespace}/{name}" if namespace else name)

    def version_of(self, namespace: str, name: str, value: JsonObject, revision: int) -> Stored:
        """Make the stored form of an object; its resourceVersion is set here."""
        metadata = value["metadata"]
        metadata["resourceVersion"] = str(revision)
        labels = metadata.get("labels") or NO_LABELS
        return Stored(namespace, name, revision, body_of(value), labels, self._read_fields(value))

    def put(self, version: Stored) -> Change:
        """Add or replace an object."""
        key = version.key
        before = self.items.get(key)
        self.items[key] = version
        if before is None:
            self._unordered.append(key)
        change = Change(before, version, version.revision)
        self.history.append(change)
        return change

    def remove(self, key: str, revision: int) -> Change:
        change = Change(self.items.pop(key), None, revision)
        self._leftovers += 1
        self.history.append(change)
        return change

    def load(self, version: Stored) -> None:
        """Take in an object from the write-ahead log: it is no change."""
        self.items[version.key] = version
        self._unordered.append(version.key)

    def current(self, namespace: str = "") -> list[Stored]:
        """The objects as they are, of one namespace or all."""
        return list(self.state(namespace))

    def at(self, revision: int, namespace: str = "") -> list[Stored]:
        """The objects as they were at a revision; HistoryLost if that is too long ago."""
        return list(self.state(namespace, revision=revision))

    def state(self, namespace: str = "", after: str = "", revision: int | None = None) -> "State":
        """The objects behind a key, as they are or as they were at a revision."""
        earlier = {} if revision is None else self.history.undo(revision)
        keys = _find_keys_after(self._sort_keys(), namespace, after)
        gone = [key for key in earlier if key not in self.items]
        for key in _find_keys_after(sorted(gone), namespace, after):
            place = bisect_left(keys, key)
            if place == len(keys) or keys[place] != key:
                keys.insert(place, key)
        return State(keys, self.items, earlier, exact=not earlier and not self._leftovers)

    def _sort_keys(self) -> list[str]:
        """All keys in order, perhaps with some of objects that are gone."""
        if self._unordered:
            items = self.items
            if self._leftovers:
                # A name may have come back while it still is in the order.
                new = {key for key in self._unordered if key in items}
                self._order = [key for key in self._order if key in items and key not in new]
                self._order.extend(sorted(new))
                self._leftovers = 0
            else:
                self._order.extend(sorted(self._unordered))
            self._order.sort()
            self._unordered = []
        elif self._leftovers > len(self.items):
            self._order = [key for key in self._order if key in self.items]
            self._leftovers = 0
        return self._order


class State:
    """Objects at one moment in the order of their keys; only what is looked at costs."""

    def __init__(
        self,
        keys: list[str],
        items: Mapping[str, Stored],
        earlier: Mapping[str, Stored | None],
        *,
        exact: bool,
    ) -> None:
        self._keys = keys
        self._items = items
        self._earlier = earlier
        self._exact = exact
        """Every key has an object."""

    def __iter__(self) -> Iterator[Stored]:
        items, earlier = self._items, self._earlier
        for key in self._keys:
            version = earlier[key] if key in earlier else items.get(key)
            if version is not None:
                yield version

    def __len__(self) -> int:
        return len(self._keys) if self._exact else sum(1 for _ in self)


def _find_keys_after(keys: list[str], namespace: str, after: str) -> list[str]:
    """The keys of a namespace behind a key; keys of a namespace are together."""
    first, last = 0, len(keys)
    if namespace:
        first = bisect_left(keys, f"{namespace}/")
        last = bisect_left(keys, f"{namespace}0", first)  # "0" follows "/"
    if after:
        first = max(first, bisect_left(keys, after + "\0", first, last))
    return keys[first:last]
