"""What happened to a collection, as far back as memory allows.

The history serves three questions: what a watch that starts at an older revision has missed, how
the collection looked at an older revision (pages of a list, exact lists), and what a watcher that
is being served has not seen yet. Watchers keep a place in it and nothing else, so a slow one costs
no memory: when the history has moved on past its place, it is cut off.

The length is bounded in changes and in bytes. `start` is the revision from which on everything is
known; asking for anything older raises `HistoryLost`.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from podium.apiserver.store.stored import Stored

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
