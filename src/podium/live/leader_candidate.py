"""One candidate for a lease: what it has seen of it, and single attempts to get or keep it.

Whoever holds the lease renews it; the others look at it now and then and take it when it was
released, or was not renewed for as long as the record itself says. Nobody compares a time in a
record with his own clock: a record counts from when *this* process first saw it. So clocks may
differ by years, as long as they run at about the same speed.

The rules are client-go's (`tools/leaderelection/leaderelection.go`) but for three, all on the safe
side. What is held counts from when the last renewal was *sent*, for the server may have taken it
then and answered late. Every write has a time of its own: two writes of one attempt that look the
same would be one renewal to others, and count from the first. A lease is released only if it still
names the one who releases it.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import msgspec

from podium.client import Clock
from podium.client.api_errors import NotFound
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.lease import LeaderElectionRecord, Lease
from podium.live.lease_lock import FAILURES, LeaseLock
from podium.scheduler.config.types import LeaderElectionConfiguration

_SAFE_SHARE: Final = 0.95
"""Of a lease's duration; the rest is for clocks that run at different speeds."""


class Log(Protocol):
    """Where it is told how the election goes; messages with keys and values."""

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None: ...

    def error(self, message: str, **fields: Any) -> None: ...


class LeaderCandidate:
    def __init__(
        self,
        lock: LeaseLock,
        settings: LeaderElectionConfiguration,
        identity: str,
        *,
        clock: Clock,
        wall: Callable[[], float],
        log: Log,
        on_slow_renewal: Callable[[], None] = lambda: None,
    ) -> None:
        self.lease: Lease | None = None
        self.seen_at = 0.0
        """When the lease was first seen as it is, by the clock."""
        self.held_until = 0.0
        """The time until which nobody else can have the lease that was acquired or renewed."""
        self.may_hold = False
        """Whether the server may have this candidate as the holder; also if no answer came."""
        self.trouble = ""
        """Why the last attempt failed; empty if it did not, or if somebody else holds the lease."""
        self.slow_renewals = 0
        """How often the lease had to be read before it could be renewed."""
        self._lock = lock
        self._identity = identity
        self._lease_s = int(settings.lease_duration.seconds)
        self._patience_s = settings.retry_period.seconds + settings.renew_deadline.seconds
        self._clock = clock
        self._wall = wall
        self._stamped_s = 0.0
        self._nudges = 0
        self._log = log
        self._on_slow_renewal = on_slow_renewal

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; empty if nobody did."""
        return self.lease.record.holder if self.lease is not None else ""

    async def attempt(self) -> bool:
        """Try to acquire or renew; whether the lease is held now."""
        now = self._clock.now()
        if self.lease is not None and self.holder == self._identity and self._is_valid(now):
            # Most likely nobody has written since: no need to look first.
            renewing = self._lock.update(self.lease, self._renewed(self.lease.record))
            failure = "Failed to update lease optimistically, falling back to slow path"
            if await self._write(renewing, failure, v=2):
                return True
        try:
            found = await self._lock.read()
        except NotFound:
            creating = self._lock.create(self._acquired(transitions=0))
            return await self._write(creating, "Error initially creating lease lock")
        except FAILURES as problem:
            self._failed("Error retrieving lease lock", problem)
            return False
        self._observe(found)
        if self.holder == self._identity:
            self.slow_renewals += 1
            self._on_slow_renewal()
            record = self._renewed(found.record)
        elif self.holder and self._is_valid(now):
            self.trouble = ""
            held = "Lease is held by and has not yet expired"
            self._log.info(held, v=4, lock=str(self._lock), holder=self.holder)
            return False
        else:
            record = self._acquired(transitions=found.record.transitions + 1)
        return await self._write(self._lock.update(found, record), "Failed to update lease")

    async def release(self) -> None:
        """Give the lease back, so that others need not wait for its end; two requests at most."""
        self.may_hold = False
        try:
            lease = await self._lock.read()
            self._observe(lease)
            if self.holder != self._identity:
                return
            mine = self._acquired(transitions=lease.record.transitions)
            nobodys = msgspec.structs.replace(mine, holder="", duration_s=1)
            self._observe(await self._lock.update(lease, nobodys))
        except NotFound:
            self._log.info("lease lock not found", lock=str(self._lock))
        except FAILURES as problem:
            self._failed("Failed to release lease", problem)

    def _is_valid(self, now: float) -> bool:
        """Whether what was seen is to be respected; it is the record's own duration that counts."""
        return self.lease is not None and self.seen_at + self.lease.record.duration_s > now

    def _acquired(self, transitions: int) -> LeaderElectionRecord:
        stamp = self._stamp()
        return LeaderElectionRecord(
            holder=self._identity,
            duration_s=self._lease_s,
            acquired=stamp,
            renewed=stamp,
            transitions=transitions,
        )

    def _renewed(self, held: LeaderElectionRecord) -> LeaderElectionRecord:
        return msgspec.structs.replace(held, duration_s=self._lease_s, renewed=self._stamp())

    def _stamp(self) -> str:
        """The time, never the same twice: to others a record that looks as before is none."""
        wall_s = self._wall()
        self._nudges = self._nudges + 1 if wall_s == self._stamped_s else 0
        self._stamped_s = wall_s
        return micro_time_text(wall_s + self._nudges * 1e-6)

    async def _write(
        self, writing: Coroutine[Any, Any, Lease], failure: str, v: int | None = None
    ) -> bool:
        """Whether the lease is held now; `v` is the verbosity at which a failure is no error."""
        sent_at = self._clock.now()
        self.may_hold = True
        try:
            lease = await writing
        except FAILURES as problem:
            self._failed(failure, problem, v)
            return False
        self._observe(lease)
        now = self.seen_at = self._clock.now()
        self.trouble = ""
        self.held_until = min(
            now + self._patience_s, sent_at + _SAFE_SHARE * lease.record.duration_s
        )
        return self.holder == self._identity and now < self.held_until

    def _observe(self, lease: Lease) -> None:
        if self.lease is None or lease.record != self.lease.record:
            self.seen_at = self._clock.now()
        self.lease = lease
        if self.holder != self._identity:
            self.may_hold = False

    def _failed(self, what: str, problem: Exception, v: int | None = None) -> None:
        self.trouble = str(problem) or type(problem).__name__
        if v is None:
            self._log.error(what, err=self.trouble, lock=str(self._lock))
        else:
            self._log.info(what, v=v, lock=str(self._lock), err=self.trouble)
