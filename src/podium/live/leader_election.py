"""One scheduler of several works at a time: leader election over a Lease.

    lease             the object: a record, and what else it carries
    lease_lock        its requests, each within its time
    leader_candidate  single attempts to get, keep and give back the lease
    here              when to attempt, and work that runs between gaining the lease and losing it

Contract: work runs only while the lease is held for certain. It is cancelled before anybody else
can take the lease over, and before anything else happens; the lease is released only once work has
ended. Two things that only a person can do are beyond this: a lease that is deleted or given to
somebody else by hand is noticed at the next renewal.

Times and order are client-go's (`tools/leaderelection/leaderelection.go`), except that a leader who
sees another's name in the lease stops at once and not at the end of the deadline.
"""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, Final
from uuid import UUID

from podium.client import Clock, KubeClient
from podium.client.clock import run_in_own_task
from podium.golang.errors import PodiumError
from podium.live.leader_candidate import FAILURES, ElectionLog, LeaderCandidate, LeaseLock
from podium.scheduler.config.types import LeaderElectionConfiguration

Work = Callable[[], Coroutine[Any, Any, None]]
_Task = asyncio.Task[None]

_JITTER: Final = 1.2
_INSTANT_S: Final = 0.001
"""Too short to wait for."""
_PATIENCE_S: Final = 5.0
"""How long cancelled work may take to end."""
_WATCHDOG_S: Final = 20.0


class LeadershipLost(PodiumError):
    """The lease could not be renewed in time, or somebody else has it."""


class LeaderElection:
    """One candidate and its work; `settings` are complete, with all their defaults."""

    def __init__(
        self,
        client: KubeClient,
        settings: LeaderElectionConfiguration,
        identity: str,
        *,
        clock: Clock,
        wall: Callable[[], float],
        randomness: Random,
        log: ElectionLog,
        component: str = "default-scheduler",
        on_leading: Callable[[], None] = lambda: None,
        on_stopped_leading: Callable[[], None] = lambda: None,
        on_slow_renewal: Callable[[], None] = lambda: None,
        on_new_leader: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`component` is who signs the event. `on_leading` is called before work begins,
        `on_stopped_leading` when it has ended, `on_slow_renewal` when the lease had to be read
        before it could be renewed, and `on_new_leader` whenever the lease is seen to have changed
        hands."""
        self.identity = identity
        self._lock = LeaseLock(client, settings)
        self._candidate = LeaderCandidate(
            self._lock,
            settings,
            identity,
            clock=clock,
            wall=wall,
            log=log,
            on_slow_renewal=on_slow_renewal,
        )
        self._lease_s = settings.lease_duration.seconds
        self._retry_s = settings.retry_period.seconds
        self._clock = clock
        self._wall = wall
        self._randomness = randomness
        self._log = log
        self._component = component
        self._on_leading = on_leading
        self._on_stopped_leading = on_stopped_leading
        self._on_new_leader = on_new_leader
        self._reported = ""
        self._leads = False
        self._loss = ""

    # --- what others may ask ------------------------------------------------------------------

    @property
    def is_leader(self) -> bool:
        """Whether work may be done at this moment, also right after the process was held up."""
        return self._leads and self._clock.now() < self._candidate.held_until

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; empty if nobody did."""
        return self._candidate.holder

    @property
    def trouble(self) -> str:
        """Why the lease cannot be had or renewed right now; empty if somebody else leads."""
        return self._candidate.trouble

    @property
    def slow_renewals(self) -> int:
        """How often the lease had to be read before it could be renewed."""
        return self._candidate.slow_renewals

    def check(self, within_s: float = _WATCHDOG_S) -> str | None:
        """What is wrong with a leader that should be gone by now, for health checks."""
        unseen_s = self._clock.now() - self._candidate.seen_at
        if self.holder == self.identity and unseen_s > self._lease_s + within_s:
            return f"failed election to renew leadership on lease {self._lock.name}"
        return None

    # --- leading ------------------------------------------------------------------------------

    async def lead(self, work: Work) -> None:
        """Wait until the lease is to be had, then work for as long as it is held.

        Returns when the work has ended, with the lease released. Raises LeadershipLost.
        """
        self._loss = ""
        try:
            await self._acquire()
            try:
                await self._work(work)
            finally:
                self._on_stopped_leading()
        finally:
            self._leads = False
            if self._candidate.may_hold:
                await run_in_own_task(self._candidate.release())

    async def _acquire(self) -> None:
        lock = str(self._lock)
        self._log.info("Attempting to acquire leader lease...", lock=lock)
        while not await self._try():
            self._log.info("Failed to acquire lease", v=4, lock=lock)
            await self._clock.sleep(self._retry_s * (1 + _JITTER * self._randomness.random()))
        self._leads = True
        self._log.info("Successfully acquired lease", lock=lock)
        self._on_leading()

    async def _try(self) -> bool:
        succeeded = await self._candidate.attempt()
        if self.holder and self.holder != self._reported:
            self._reported = self.holder
            self._on_new_leader(self.holder)
        return succeeded

    async def _work(self, work: Work) -> None:
        doing = asyncio.create_task(work())
        keeping = (
            asyncio.create_task(self._renew(doing)),
            asyncio.create_task(self._guard(doing)),
        )
        announcing = asyncio.create_task(self._announce())
        try:
            await asyncio.wait((doing, *keeping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._stop(doing, *keeping, announcing)
        for task in keeping:
            if task.done() and not task.cancelled():
                task.result()
        if self._loss:
            raise LeadershipLost(f"lease {self._lock}: {self._loss}")
        doing.result()

    async def _renew(self, doing: _Task) -> None:
        while True:
            await self._clock.sleep(self._retry_s)
            if await self._try():
                self._log.info("Successfully renewed lease", v=5, lock=str(self._lock))
            elif self.holder not in ("", self.identity):
                self._lose(doing, f"{self.holder} holds it")
                return

    async def _guard(self, doing: _Task) -> None:
        while (left_s := self._candidate.held_until - self._clock.now()) > _INSTANT_S:
            await self._clock.sleep(left_s)
        self._lose(doing, f"not renewed in time: {self.trouble or 'no answer yet'}")

    def _lose(self, doing: _Task, why: str) -> None:
        if doing.cancel():
            self._leads = False
            self._loss = why
            self._log.info("Failed to renew lease", lock=str(self._lock), err=why)

    async def _stop(self, doing: _Task, *others: _Task) -> None:
        """Have everything end; the lease stays as it is where work does not."""
        self._leads = False
        was_cancelled = doing.cancel() or bool(self._loss)
        for task in others:
            task.cancel()
        try:
            await asyncio.wait((doing, *others), timeout=_PATIENCE_S)
        finally:
            if not doing.done():
                self._log.error("Work goes on though it was cancelled, and keeps the lease")
                self._candidate.may_hold = False
        if was_cancelled and doing.done() and not doing.cancelled() and doing.exception():
            self._log.error("Work failed when it was cancelled", err=str(doing.exception()))

    async def _announce(self) -> None:
        lease = self._candidate.lease
        assert lease is not None
        said = f"{self.identity} became leader"
        try:
            await self._lock.announce(lease, said, self._component, self._wall())
        except FAILURES as problem:
            self._log.info("Could not write event", v=2, event=said, err=str(problem))


def new_identity(hostname: str, unique: UUID) -> str:
    """Who a process is among candidates: two on one host differ."""
    return f"{hostname}_{unique}"
