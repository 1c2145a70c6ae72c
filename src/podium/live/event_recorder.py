"""Events of the scheduler, on their way to the API server.

Whoever schedules must not wait for events, so telling one costs a place in a queue and nothing
else: what it looks like, whether it belongs to a series and how it is written is worked out later,
in `run`. Where more are told than can be written, the excess is dropped and counted; however long
the server is away, no more than a thousand events wait for it (`maxQueuedEvents` in
`staging/src/k8s.io/client-go/tools/events/event_broadcaster.go`).

Which of the two forms of events is written is found out once: if the server does not say that it
has `events.k8s.io/v1`, for whatever reason, it gets core/v1 events for the rest of this life.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import Final

from podium.client import Clock, KubeClient, RequestFailed
from podium.live.core_events import CoreEvents
from podium.live.event_series import FINISH_S, REFRESH_S, EventSeries, Observed
from podium.live.event_writing import EventCounts, EventWriter, Lanes, WriteOutcome
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Event, shortened

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
        self.record(Event(pod, "Normal", reason, action, shortened(note)))

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
            for observed in series.ended(self._clock.now()):
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
