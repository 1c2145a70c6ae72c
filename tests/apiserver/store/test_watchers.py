"""Whatever the interleaving, a watcher sees every change exactly once and in order.

Writers and watchers take turns in an order that hypothesis chooses. A watcher lists, watches from
there, may be cut and resume from the last revision it saw, and may be so slow that the history
passes it; then it must be told, and starts again. At the end what it has put together from lists
and events must be what is stored, and no event may have come twice or out of order.
"""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.apiserver.store.collection import Collection, History, HistoryLost
from podium.apiserver.store.store import Store
from podium.apiserver.store.stored import Loaded
from podium.golang.json_values import JsonObject

NAMES = ("a", "b", "c", "d")


@dataclass
class Watcher:
    """Follows a collection as a client does: by a list, then by events."""

    store: Store
    collection: Collection
    known: dict[str, int] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    place: int = 0
    revision: int = 0
    relists: int = 0

    def list_again(self) -> None:
        published = self.store.published_revision
        if published != self.store.revision:
            return  # a list waits until what it shows is on disk
        self.known = {each.name: each.revision for each in self.collection.current()}
        self.revision = self.store.revision
        self.place = self.collection.history.end
        self.relists += 1
        self.seen = []

    def resume(self) -> None:
        """Start a new watch from the last revision that was seen."""
        try:
            self.place = self.collection.history.place_after(self.revision)
        except HistoryLost:
            self.list_again()

    def read(self, limit: int) -> None:
        try:
            changes = self.collection.history.since(self.place, limit=limit)
        except HistoryLost:
            self.list_again()
            return
        for change in changes:
            if change.revision > self.store.published_revision:
                break
            self.place += 1
            assert change.revision > self.revision, "came twice or out of order"
            self.revision = change.revision
            self.seen.append(change.revision)
            if change.after is not None:
                self.known[change.after.name] = change.after.revision
            else:
                assert change.before is not None
                del self.known[change.before.name]


STEPS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("read"), st.integers(0, 2), st.integers(1, 4)),
    st.tuples(st.just("resume"), st.integers(0, 2)),
    st.tuples(st.just("publish")),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=80), st.booleans(), st.integers(4, 30))
def test_each_watcher_sees_every_change_once_and_in_order(
    steps: list[tuple[object, ...]], durable: bool, history_length: int
) -> None:
    store = Store(Loaded(1, {}) if durable else None)
    collection = store.collection("things")
    collection.history = History(1, max_changes=history_length)
    watchers = [Watcher(store, collection) for _ in range(3)]
    for watcher in watchers:
        watcher.list_again()
    for step in steps:
        match step:
            case ("put", str(name)):
                before = collection.get("", name)
                value: JsonObject = {"metadata": {"name": name}}
                if before is None:
                    store.create(collection, "", name, value)
                else:
                    store.replace(collection, before, value)
            case ("delete", str(name)):
                before = collection.get("", name)
                if before is not None:
                    store.delete(collection, before)
            case ("read", int(number), int(limit)):
                watchers[number].read(limit)
            case ("resume", int(number)):
                watchers[number].resume()
            case _:
                _publish(store)
    _publish(store)
    stored = {each.name: each.revision for each in collection.current()}
    for watcher in watchers:
        watcher.read(1000)
        watcher.read(1000)
        assert watcher.known == stored
        assert watcher.seen == sorted(set(watcher.seen))


def _publish(store: Store) -> None:
    records = store.take_records()
    if records:
        store.publish(records[-1].revision)


def test_listeners_are_told_only_of_what_is_on_disk() -> None:
    store = Store(Loaded(1, {}))
    collection = store.collection("things")
    told: list[int] = []
    collection.listeners["me"] = lambda: told.append(store.published_revision)

    store.create(collection, "", "a", {"metadata": {"name": "a"}})
    assert told == []
    _publish(store)

    assert told == [2]
