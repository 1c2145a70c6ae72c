"""Events that say the same again and again, told as few: client-go's rules for events of core/v1
(`tools/record/events_cache.go`).

- An event that says the same of the same object again is not a new one: its count goes up.
- Events that differ in their message alone are combined from the tenth message on, until ten
  minutes pass without one.
- A source may tell 25 events of an object at once and one every five minutes after that; the rest
  is counted and not told.

Each rule remembers 4096 things, those used last.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, NamedTuple, TypeVar

MAX_REMEMBERED: Final = 4096
COMBINED_FROM: Final = 10
COMBINED_WITHIN_S: Final = 600.0
COMBINED: Final = "(combined from similar events): "
BURST: Final = 25
ONE_EVERY_S: Final = 300.0

K = TypeVar("K")
V = TypeVar("V")


class EventKey(NamedTuple):
    """All that is compared of an event but its message. The object counts in any state: unlike
    series, counts go on when it changes."""

    source: Hashable
    regarding: Hashable
    type: str
    reason: str


class Told(Generic[V]):
    """An event that was reported first, and how often it was seen; `first` is the caller's own."""

    __slots__ = ("count", "first")

    def __init__(self) -> None:
        self.first: V | None = None
        self.count = 0


class Occurrence(NamedTuple, Generic[V]):
    """One event that is to be told: as a new one if its count is 1, else as one more of the first.
    `is_combined` says that it stands for several messages."""

    message: str
    is_combined: bool
    told: Told[V]


class EventCorrelator(Generic[V]):
    def __init__(self, *, most: int = MAX_REMEMBERED) -> None:
        self._messages: _Recent[EventKey, _Messages] = _Recent(most)
        self._told: _Recent[tuple[EventKey, str | None], Told[V]] = _Recent(most)
        self._allowances: _Recent[tuple[object, ...], _Allowance] = _Recent(most)

    def __len__(self) -> int:
        return max(len(self._messages), len(self._told), len(self._allowances))

    def correlate(self, key: EventKey, message: str, now: float) -> Occurrence[V] | None:
        """What an event comes to; None if it is counted and not told. `now` only grows."""
        is_combined = self._messages.get(key, lambda: _Messages(now)).are_many_with(message, now)
        told = self._told.get((key, None if is_combined else message), Told)
        told.count += 1
        source = (key.source, key.regarding, key.type)
        if not self._allowances.get(source, lambda: _Allowance(now)).spend(now):
            return None
        return Occurrence(COMBINED + message if is_combined else message, is_combined, told)


class _Recent(Generic[K, V]):
    """As many values as fit; what was not asked for the longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K, new: Callable[[], V]) -> V:
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = new()
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        else:
            self._values.move_to_end(key)
        return value


class _Messages:
    """The different messages of similar events."""

    __slots__ = ("seen", "seen_at")

    def __init__(self, now: float) -> None:
        self.seen: dict[str, None] = {}
        self.seen_at = now

    def are_many_with(self, message: str, now: float) -> bool:
        if now - self.seen_at > COMBINED_WITHIN_S:
            self.seen.clear()
        self.seen_at = now
        self.seen[message] = None
        if len(self.seen) < COMBINED_FROM:
            return False
        del self.seen[next(iter(self.seen))]
        return True


class _Allowance:
    """A bucket of tokens."""

    __slots__ = ("_at", "_left")

    def __init__(self, now: float) -> None:
        self._left = float(BURST)
        self._at = now

    def spend(self, now: float) -> bool:
        self._left = min(float(BURST), self._left + (now - self._at) / ONE_EVERY_S)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
