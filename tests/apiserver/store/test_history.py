"""A history forgets from its old end, and says so."""

import pytest

from podium.apiserver.store.collection import Change, Collection, History, HistoryLost, no_fields
from podium.apiserver.store.stored import Stored


def version(name: str, revision: int, size: int = 20) -> Stored:
    body = b'"metadata":{"name":"%s"}' % name.encode() + b" " * size + b"}"
    return Stored("", name, revision, body, {}, ())


def filled(count: int, **bounds: int) -> History:
    history = History(1, **bounds)
    for number in range(count):
        history.append(Change(None, version(f"o{number}", number + 2), number + 2))
    return history


def test_a_watcher_who_has_seen_a_revision_stands_behind_its_change() -> None:
    history = filled(5)

    place = history.place_after(4)

    assert [change.revision for change in history.since(place, limit=10)] == [5, 6]


def test_a_watcher_who_knows_everything_stands_at_the_end() -> None:
    history = filled(3)

    assert history.place_after(4) == history.end
    assert not history.since(history.end, limit=10)


def test_the_number_of_changes_is_bounded() -> None:
    history = filled(100, max_changes=10)

    assert 10 <= len(history.since(history.place_after(history.start), limit=1000)) <= 12


def test_the_size_of_the_changes_is_bounded() -> None:
    history = filled(100, max_bytes=1000)

    kept = history.since(history.place_after(history.start), limit=1000)
    assert sum(change.size for change in kept) <= 1000 + 1000 // 8


def test_what_is_forgotten_is_not_answered_with_less() -> None:
    history = filled(100, max_changes=10)

    with pytest.raises(HistoryLost):
        history.place_after(history.start - 1)
    with pytest.raises(HistoryLost):
        history.undo(history.start - 1)
    with pytest.raises(HistoryLost):
        history.since(0, limit=10)


def test_undoing_changes_gives_the_objects_as_they_were() -> None:
    collection = Collection("things", no_fields, 1)
    collection.put(version("a", 2))
    collection.put(version("b", 3))
    collection.put(version("a", 4))
    collection.remove("b", 5)
    collection.put(version("c", 6))

    def at(revision: int) -> list[tuple[str, int]]:
        return [(each.name, each.revision) for each in collection.at(revision)]

    assert at(1) == []
    assert at(2) == [("a", 2)]
    assert at(3) == [("a", 2), ("b", 3)]
    assert at(4) == [("a", 4), ("b", 3)]
    assert at(5) == [("a", 4)]
    assert at(6) == [("a", 4), ("c", 6)]


def test_a_deleted_object_is_last_seen_with_the_revision_of_its_deletion() -> None:
    collection = Collection("things", no_fields, 1)
    collection.put(version("a", 2))

    change = collection.remove("a", 3)

    assert b'"resourceVersion":"3"' in change.departed
