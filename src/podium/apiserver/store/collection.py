"""All objects of one resource, in the order of their keys, with their history.

Keys are `namespace/name`, or the name alone, and order as etcd orders them. New keys are merged
into the order when somebody lists, so that creating costs nothing and listing little.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping

from podium.apiserver.store.history import Change, History
from podium.apiserver.store.stored import NO_LABELS, Stored, body_of
from podium.golang.json_values import JsonObject

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
        keys = _between(self._ordered(), namespace, after)
        gone = [key for key in earlier if key not in self.items]
        for key in _between(sorted(gone), namespace, after):
            place = bisect_left(keys, key)
            if place == len(keys) or keys[place] != key:
                keys.insert(place, key)
        return State(keys, self.items, earlier, exact=not earlier and not self._leftovers)

    def _ordered(self) -> list[str]:
        """All keys in order, perhaps with some of objects that are gone."""
        if self._unordered:
            items = self.items
            if self._leftovers:
                # A name may have come back while it still stands in the order.
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


def _between(keys: list[str], namespace: str, after: str) -> list[str]:
    """The keys of a namespace behind a key; keys of a namespace stand together."""
    first, last = 0, len(keys)
    if namespace:
        first = bisect_left(keys, f"{namespace}/")
        last = bisect_left(keys, f"{namespace}0", first)  # "0" follows "/"
    if after:
        first = max(first, bisect_left(keys, after + "\0", first, last))
    return keys[first:last]
