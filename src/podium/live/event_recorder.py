"""Events of the scheduler, series included, on their way to the API server.

Whoever schedules must not wait for events, so telling one costs a place in a queue and nothing
else: what it looks like, whether it belongs to a series and how it is written is worked out later,
in `run`. Where more are told than can be written, the excess is dropped and counted; however long
the server is away, no more than a thousand events wait for it (`maxQueuedEvents` in
`staging/src/k8s.io/client-go/tools/events/event_broadcaster.go`).

Which of the two forms of events is written is found out once: if the server does not say that it
has `events.k8s.io/v1`, for whatever reason, it gets core/v1 events for the rest of this life.

Events that repeat are reported once: the first is written, the second makes it a series, and later
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

Events of core/v1, for servers without `events.k8s.io/v1`; which of them are told, and which are
only counted, is said by client-go's rules (`event_correlator`).
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from podium.client import Clock, KubeClient, RequestFailed
from podium.client.event_correlator import MAX_REMEMBERED, EventCorrelator, EventKey
from podium.client.resources import EVENTS_K8S_IO
from podium.kubernetes.kinds.storage import ObjectReference
from podium.kubernetes.resources.resource_types import EVENTS
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.event_writing import (
    CoreEventBody,
    CorePatch,
    EventBody,
    EventCounts,
    EventNames,
    EventWriter,
    Lanes,
    SeriesBody,
    SeriesPatch,
    Write,
    WriteOutcome,
    core_event_body,
    event_body,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Event, shorten_note

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
            return (*self._evict_oldest(), known.write())
        self._observed.move_to_end(key)
        known.see_again(at, now)
        return (known.write(),) if known.count == 2 else ()

    def _evict_oldest(self) -> Iterator[Write]:
        while len(self._observed) > self._most:
            _, oldest = self._observed.popitem(last=False)
            if oldest.told < oldest.count:
                yield oldest.write()

    def collect_ended(self, now: float) -> list[Observed]:
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


class CoreEvents:
    def __init__(self, randomness: Random, *, most: int = MAX_REMEMBERED) -> None:
        self._names = EventNames(randomness)
        self._correlator: EventCorrelator[CoreEventBody] = EventCorrelator(most=most)

    def __len__(self) -> int:
        return len(self._correlator)

    def take(self, event: Event, at: float, now: float) -> tuple[Write, ...]:
        """What has to be written because of an event; `at` is wall time, `now` only grows."""
        name = self._names.name(event.pod.pod.metadata.name, at)
        body = core_event_body(event, name, at)
        key = EventKey(body.source, _object_of(body), body.type, body.reason)
        occurrence = self._correlator.correlate(key, body.message, now)
        if occurrence is None:
            return ()
        told = occurrence.told
        if occurrence.is_combined:
            # upstream: an event that stands for several names no reporting component.
            body = replace(body, message=occurrence.message, reporting_component="")
        if told.first is None:
            told.first = body
            return (Write(EVENTS, replace(body, count=told.count)),)
        again = replace(
            body,
            metadata=told.first.metadata,
            first_timestamp=told.first.first_timestamp,
            count=told.count,
        )
        patch = CorePatch(again.count, again.last_timestamp, again.message)
        return (Write(EVENTS, again, patch),)


def _object_of(body: CoreEventBody) -> tuple[str, ...]:
    about = body.involved_object
    return (about.api_version, about.kind, about.namespace, about.name, about.uid)


MAX_QUEUED: Final = 1000
AT_ONCE: Final = 64
"""As many as a transport has connections for writes: events must keep up with bindings."""
_SLICE: Final = 50
"""How many events are looked at before others may go on."""
_DISCOVERY: Final = "/apis/events.k8s.io/v1"
_LOG: Final = logging.getLogger("podium.live")


class EventRecorder:
    """`host` names this machine in the events; `wall` gives seconds since 1970."""

    def __init__(
        self,
        client: KubeClient,
        *,
        host: str,
        clock: Clock,
        wall: Callable[[], float],
        randomness: Random,
    ) -> None:
        self.counts = EventCounts()
        self._client = client
        self._host = host
        self._clock = clock
        self._wall = wall
        self._randomness = randomness
        self._writer = EventWriter(client, self.counts, clock=clock, randomness=randomness)
        self._lanes = Lanes(self._writer.write)
        self._arrived: deque[tuple[Event, float]] = deque()
        self._woken = asyncio.Event()
        self._is_full = False
        self._is_running = False
        self._form: EventSeries | CoreEvents | None = None
        self._choosing = asyncio.Lock()

    @property
    def waiting(self) -> int:
        """How many events are not written yet."""
        return len(self._arrived) + self._lanes.unfinished

    def record(self, event: Event) -> None:
        """Tell an event. Never waits and never raises."""
        if len(self._arrived) + self._lanes.unfinished >= MAX_QUEUED:
            self._drop(event)
            return
        self._arrived.append((event, self._wall()))
        self._is_full = False
        self.counts.recorded += 1
        self._woken.set()

    def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """An event of type Normal about a pod, as plugins tell them."""
        self.record(Event(pod, "Normal", reason, action, shorten_note(note)))

    def _drop(self, event: Event) -> None:
        self.counts.dropped += 1
        if not self._is_full:
            self._is_full = True
            _LOG.error(
                "Unable to record event: too many queued events, dropped event: %s of %s",
                event.reason,
                event.pod.key,
            )

    # --- at work ------------------------------------------------------------------------------

    async def run(self) -> None:
        """Write events, until cancelled."""
        self._is_running = True
        try:
            form = await self._found_form()
            async with self._workers(), asyncio.TaskGroup() as group:
                group.create_task(self._take(form))
                if isinstance(form, EventSeries):
                    group.create_task(self._tend(form))
        finally:
            self._is_running = False

    async def flush(self, within_s: float) -> None:
        """Write what is queued, for so long at most; while `run` runs, or after it."""
        try:
            async with asyncio.timeout(within_s):
                form = await self._found_form()
                self._take_in(form, len(self._arrived))
                if self._is_running:
                    await self._lanes.until_empty()
                else:
                    async with self._workers():
                        await self._lanes.until_empty()
        except TimeoutError:
            _LOG.warning("%d events are left that were not written in time", self.waiting)

    @asynccontextmanager
    async def _workers(self) -> AsyncIterator[None]:
        workers = [asyncio.ensure_future(self._lanes.work()) for _ in range(AT_ONCE)]
        try:
            yield
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _found_form(self) -> EventSeries | CoreEvents:
        async with self._choosing:
            if self._form is None:
                try:
                    await self._client.request("GET", _DISCOVERY)
                    self._form = EventSeries(self._host, self._randomness)
                except RequestFailed as problem:
                    _LOG.info("events are written as core/v1: no events.k8s.io/v1: %s", problem)
                    self._form = CoreEvents(self._randomness)
            return self._form

    async def _take(self, form: EventSeries | CoreEvents) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._arrived:
                self._take_in(form, _SLICE)
                await asyncio.sleep(0)

    def _take_in(self, form: EventSeries | CoreEvents, most: int) -> None:
        now = self._clock.now()
        for _ in range(min(most, len(self._arrived))):
            event, at = self._arrived.popleft()
            try:
                writes = form.take(event, at, now)
            except Exception:
                _LOG.exception("event %s of %s is of no form", event.reason, event.pod.key)
                self.counts.failed += 1
                continue
            if not writes:
                self.counts.counted += 1
            for write in writes:
                self._lanes.put(write)

    # --- series -------------------------------------------------------------------------------

    async def _tend(self, series: EventSeries) -> None:
        """End what is over, and keep what goes on from expiring, one after the other."""
        rounds_per_refresh = round(REFRESH_S / FINISH_S)
        for number in count(1):
            await self._clock.sleep(FINISH_S)
            for observed in series.collect_ended(self._clock.now()):
                if not await self._finish(series, observed):
                    break
            if number % rounds_per_refresh:
                continue
            for observed in series.going_on():
                if await self._update(observed) is WriteOutcome.UNREACHED:
                    break

    async def _finish(self, series: EventSeries, observed: Observed) -> bool:
        """Whether the server could be reached; if not, the next round tries again."""
        seen = observed.count
        outcome = await self._update(observed)
        if outcome is WriteOutcome.UNREACHED:
            return False
        # One more may have come while its end was written.
        if outcome is not None and observed.count == seen:
            series.forget(observed)
        return True

    async def _update(self, observed: Observed) -> WriteOutcome | None:
        """One try; None if other writes about the object have to come first."""
        if self._lanes.is_busy(observed.about):
            return None
        return await self._writer.once(observed.write())
