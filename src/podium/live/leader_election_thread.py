"""Leader election in a thread of its own: the lease is renewed however long an attempt takes.

An attempt runs to its end in the loop that schedules. Where that takes longer than the lease lasts,
renewing in the same loop would lose it, and the next leader would meet the same pod. So the
election has a loop and a connection of its own; the work stays in the loop that called.

    thread              loop that works
    election.lead ────▶ work begins
    renews, renews      work goes on, or is held up
    lease is lost ────▶ work is cancelled; if it does not end, `abandon` ends the process
    work has ended ◀─── cancelled, or of itself
    lease is released

Contract: that of `LeaderElection.lead`, which runs unchanged. A loop that does not answer keeps the
lease, as a scheduler of Kubernetes does that hangs; it is logged, and health checks, which the same
loop answers, fail.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from podium.live.leader_candidate import ElectionLog
from podium.live.leader_election import LeaderElection, LeadershipLost, Work
from podium.live.metered_transport import RequestMetrics

_LOOK_S: Final = 5.0
_SILENCE_S: Final = 30.0
"""After so long it is logged that the loop that works does not answer."""


class MonotonicClock:
    """A time that is the same in all threads."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Relay:
    """Calls from a thread, made in the loop that created this."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def __call__(self, function: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody looks any more
            self._loop.call_soon_threadsafe(function, *args)


class RelayedRequestMetrics(RequestMetrics):
    """Requests of another thread, counted by the loop that shows the counts."""

    def __init__(self, metrics: RequestMetrics, relay: Relay) -> None:
        self._metrics = metrics
        self._relay = relay

    def observe_answer(self, host: str, method: str, code: str, seconds: float) -> None:
        self._relay(self._metrics.observe_answer, host, method, code, seconds)

    def observe_limiter_wait(self, host: str, method: str, seconds: float) -> None:
        self._relay(self._metrics.observe_limiter_wait, host, method, seconds)


class LeaderElectionThread:
    """One election, led once. `close` closes what the election used, in its loop; `abandon` ends
    the process when work goes on though the lease is lost."""

    def __init__(
        self,
        election: LeaderElection,
        *,
        close: Callable[[], Awaitable[None]],
        abandon: Callable[[], object],
        log: ElectionLog,
    ) -> None:
        self._election = election
        self._close = close
        self._abandon = abandon
        self._log = log
        self._relay = Relay()
        self._work: Work
        self._working: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[None]
        self._inside: asyncio.AbstractEventLoop | None = None
        self._leading: asyncio.Task[Any] | None = None
        self._stopping = False
        self._closing = False

    # --- in the loop that works ---------------------------------------------------------------

    async def lead(self, work: Work) -> None:
        """Work while the lease is held. Raises LeadershipLost, and what the work ends with."""
        self._work = work
        self._ended = asyncio.get_running_loop().create_future()
        threading.Thread(target=self._run, name="leader-election", daemon=True).start()
        try:
            # Not shielded: from Python 3.14 on a shield logs what comes after who waited has gone.
            await asyncio.wait((self._ended,))
            self._ended.result()
        except asyncio.CancelledError:
            self._stopping = True
            self._call_inside(self._stop)
            while not self._ended.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait((self._ended,))
            self._ended.exception()
            raise

    def _begin(self, outcome: "asyncio.Future[None]") -> None:
        """Start to work; the outcome belongs to the loop of the thread."""
        self._working = asyncio.get_running_loop().create_task(self._work())
        self._working.add_done_callback(lambda task: self._report(task, outcome))

    def _report(self, task: "asyncio.Task[None]", outcome: "asyncio.Future[None]") -> None:
        def tell() -> None:
            if outcome.done():
                return
            if task.cancelled():
                outcome.cancel()
            elif (problem := task.exception()) is not None:
                outcome.set_exception(problem)
            else:
                outcome.set_result(None)

        self._call_inside(tell)

    def _cancel_work(self) -> None:
        if self._working is not None:
            self._working.cancel()

    def _end(self, problem: BaseException | None) -> None:
        if self._ended.done():
            return
        if problem is None or isinstance(problem, asyncio.CancelledError):
            self._ended.set_result(None)
        else:
            self._ended.set_exception(problem)

    def _call_inside(self, function: Callable[[], object]) -> None:
        inside = self._inside
        if inside is not None:
            with suppress(RuntimeError):  # it is closed: everything has ended there
                inside.call_soon_threadsafe(function)

    # --- in the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        problem: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
                runner.run(self._lead())
        except BaseException as ended_with:
            problem = ended_with
        self._relay(self._end, problem)

    async def _lead(self) -> None:
        self._inside = asyncio.get_running_loop()
        self._leading = asyncio.current_task()
        if self._stopping:
            return
        watching = asyncio.create_task(self._watch())
        try:
            await self._election.lead(self._work_outside)
        except LeadershipLost as lost:
            if self._working is not None and not self._working.done():
                self._log.error("Leaderelection lost, and work does not end", err=str(lost))
                self._abandon()
            raise
        finally:
            self._closing = True
            watching.cancel()
            await self._close()

    def _stop(self) -> None:
        if self._leading is not None:
            self._leading.cancel()

    async def _work_outside(self) -> None:
        """The work as the election sees it: it has ended when it has ended in its own loop."""
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Nobody may be here any more when it ends.
        outcome.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self._relay(self._begin, outcome)
        while True:
            try:
                await asyncio.wait((outcome,))
                outcome.result()
                return
            except asyncio.CancelledError:
                if outcome.done() or self._closing:
                    raise
                self._relay(self._cancel_work)

    async def _watch(self) -> None:
        """Log when the loop that works does not answer for long."""
        while True:
            asked_at, answered = time.monotonic(), asyncio.Event()
            self._relay(self._call_inside, answered.set)
            try:
                async with asyncio.timeout(_SILENCE_S):
                    await answered.wait()
            except TimeoutError:
                self._log.error("Scheduling does not answer, and keeps the lease")
                await answered.wait()
                silent_s = round(time.monotonic() - asked_at)
                self._log.info("Scheduling answers again", seconds=silent_s)
            await asyncio.sleep(_LOOK_S)
