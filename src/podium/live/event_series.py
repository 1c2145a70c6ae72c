"""Events that repeat are told once: the first is written, the second makes it a series, and later
ones are only counted.

Two events belong together when type, action, reason, reporter, the regarded object (in the same
resource version) and the related one are equal; what the note says does not matter. A series that
goes on is refreshed from time to time so that the server does not let it expire; one that has been
silent for long enough gets its last count and is forgotten.

The table is bounded, which upstream's is not: with more entries than it holds, the one that was
silent for longest is forgotten early. All that can come of it is a new event where a count would
have gone up.

Source: `recordToSink`, `finishSeries` and `refreshExistingEventSeries` in
`staging/src/k8s.io/client-go/tools/events/event_broadcaster.go`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from podium.client.resources import EVENTS_K8S_IO
from podium.kubernetes.kinds.storage import ObjectReference
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.event_objects import (
    EventBody,
    EventNames,
    SeriesBody,
    SeriesPatch,
    event_body,
)
from podium.live.event_writing import Write
from podium.scheduler.engine.requests import Event

FINISH_S: Final = 6 * 60.0
REFRESH_S: Final = 30 * 60.0
MAX_OBSERVED: Final = 32_768


class _Key(NamedTuple):
    type: str
    action: str
    reason: str
    controller: str
    instance: str
    regarding: ObjectReference
    related: ObjectReference | None


class Observed:
    """An event that was written, and how often it was seen."""

    __slots__ = ("_body", "count", "last_observed_time", "seen_at", "told")

    def __init__(self, body: EventBody, seen_at: float) -> None:
        self._body = body
        self.seen_at = seen_at
        self.count = 1
        self.told = 1
        """The count that the last write about it carries."""
        self.last_observed_time = body.event_time

    @property
    def key(self) -> _Key:
        return _key(self._body)

    @property
    def about(self) -> str:
        return self._body.about

    @property
    def is_series(self) -> bool:
        return self.count > 1

    def see_again(self, at: float, now: float) -> None:
        self.count += 1
        self.last_observed_time = micro_time_text(at)
        self.seen_at = now

    def write(self) -> Write:
        """What tells the server of it as it is now."""
        self.told = self.count
        if not self.is_series:
            return Write(EVENTS_K8S_IO, self._body)
        series = SeriesBody(self.count, self.last_observed_time)
        return Write(EVENTS_K8S_IO, replace(self._body, series=series), SeriesPatch(series))


class EventSeries:
    def __init__(self, host: str, randomness: Random, *, most: int = MAX_OBSERVED) -> None:
        self._host = host
        self._names = EventNames(randomness)
        self._most = most
        self._observed: OrderedDict[_Key, Observed] = OrderedDict()
        """The one that was silent for longest comes first."""

    def __len__(self) -> int:
        return len(self._observed)

    def take(self, event: Event, at: float, now: float) -> tuple[Write, ...]:
        """What has to be written because of an event; `at` is wall time, `now` only grows."""
        name = self._names.name(event.pod.pod.metadata.name, at)
        body = event_body(event, name, at, self._host)
        key = _key(body)
        known = self._observed.get(key)
        if known is None:
            known = self._observed[key] = Observed(body, now)
            return (*self._evicted(), known.write())
        self._observed.move_to_end(key)
        known.see_again(at, now)
        return (known.write(),) if known.count == 2 else ()

    def _evicted(self) -> Iterator[Write]:
        while len(self._observed) > self._most:
            _, oldest = self._observed.popitem(last=False)
            if oldest.told < oldest.count:
                yield oldest.write()

    def ended(self, now: float) -> list[Observed]:
        """Series that are over, whose last count is still to be told; single events that are as old
        are forgotten."""
        over: list[Observed] = []
        singles: list[_Key] = []
        for key, observed in self._observed.items():
            if now - observed.seen_at <= FINISH_S:
                break
            if observed.is_series:
                over.append(observed)
            else:
                singles.append(key)
        for key in singles:
            del self._observed[key]
        return over

    def going_on(self) -> list[Observed]:
        return [observed for observed in self._observed.values() if observed.is_series]

    def forget(self, observed: Observed) -> None:
        key = observed.key
        if self._observed.get(key) is observed:
            del self._observed[key]


def _key(body: EventBody) -> _Key:
    return _Key(
        body.type,
        body.action,
        body.reason,
        body.reporting_controller,
        body.reporting_instance,
        body.regarding,
        body.related,
    )
