"""Events of core/v1, for servers without `events.k8s.io/v1`.

The rules are client-go's for this older form (`tools/record/events_cache.go`):

- An event that says the same of the same object again is not a new one: its count goes up.
- Events that differ in their message alone are combined from the tenth message on, until ten
  minutes pass without one.
- A source may tell 25 events of an object at once and one every five minutes after that; the rest
  is counted and not told.

Each rule remembers 4096 things, those used last.
"""

from collections import OrderedDict
from collections.abc import Callable
from random import Random
from typing import Final, Generic, TypeVar

from msgspec.structs import replace

from podium.client.resources import EVENTS
from podium.engine.requests import Event
from podium.live.event_objects import CoreEventBody, CorePatch, EventNames, core_event_body
from podium.live.event_writing import Write

MAX_REMEMBERED: Final = 4096
COMBINED_FROM: Final = 10
COMBINED_WITHIN_S: Final = 600.0
COMBINED: Final = "(combined from similar events): "
BURST: Final = 25
ONE_EVERY_S: Final = 300.0

K = TypeVar("K")
V = TypeVar("V")
_Key = tuple[object, ...]


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


class _Told:
    """The event that was written first, and how often it was seen."""

    __slots__ = ("count", "first")

    def __init__(self, first: CoreEventBody) -> None:
        self.first = first
        self.count = 0


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


class CoreEvents:
    def __init__(self, randomness: Random, *, most: int = MAX_REMEMBERED) -> None:
        self._names = EventNames(randomness)
        self._messages: _Recent[_Key, _Messages] = _Recent(most)
        self._told: _Recent[_Key, _Told] = _Recent(most)
        self._allowances: _Recent[_Key, _Allowance] = _Recent(most)

    def __len__(self) -> int:
        return max(len(self._messages), len(self._told), len(self._allowances))

    def take(self, event: Event, at: float, now: float) -> tuple[Write, ...]:
        """What has to be written because of an event; `at` is wall time, `now` only grows."""
        name = self._names.name(event.pod.pod.metadata.name, at)
        body, key = self._combined(core_event_body(event, name, at), now)
        told = self._told.get(key, lambda: _Told(body))
        told.count += 1
        allowance = self._allowances.get(
            (body.source, _object_of(body), body.type), lambda: _Allowance(now)
        )
        if not allowance.spend(now):
            return ()
        if told.count == 1:
            return (Write(EVENTS, body),)
        again = replace(
            body,
            metadata=told.first.metadata,
            first_timestamp=told.first.first_timestamp,
            count=told.count,
        )
        patch = CorePatch(again.count, again.last_timestamp, again.message)
        return (Write(EVENTS, again, patch),)

    def _combined(self, body: CoreEventBody, now: float) -> tuple[CoreEventBody, _Key]:
        """The event to tell, and what it is counted under."""
        similar = (body.source, _object_of(body), body.type, body.reason)
        messages = self._messages.get(similar, lambda: _Messages(now))
        if not messages.are_many_with(body.message, now):
            return body, (*similar, body.message)
        # upstream: an event that stands for several names no reporting component.
        return replace(body, message=COMBINED + body.message, reporting_component=""), similar


def _object_of(body: CoreEventBody) -> _Key:
    """The object in any state: unlike series, counts go on when it changes."""
    about = body.involved_object
    return (about.api_version, about.kind, about.namespace, about.name, about.uid)
