"""One candidate for a lease: the Lease as it is read and written, and attempts to get or keep it.

Whoever holds the lease renews it; the others look at it now and then and take it when it was
released, or was not renewed for as long as the record itself says. Nobody compares a time in a
record with his own clock: a record counts from when *this* process first saw it. So clocks may
differ by years, as long as they run at about the same speed.

The rules are client-go's (`tools/leaderelection/leaderelection.go`) but for three, all on the safe
side. What is held counts from when the last renewal was *sent*, for the server may have taken it
then and answered late. Every write has a time of its own: two writes of one attempt that look the
same would be one renewal to others, and count from the first. A lease is released only if it still
names the one who releases it.

A Lease as leader election reads and writes it. Of a lease's fields an elector owns five; everything
else that it carries (labels, owners, a strategy, fields of later releases) belongs to others. So a
lease is read twice: into a record for deciding, and into pieces that are kept as they came and go
back with the next update.

Contract: `encode_update` changes the five fields of the record and nothing else. Times stay the
texts that they are: a record is compared with other records, never with a clock.

The requests of leader election: one Lease read, created, updated, and an event about it. Contract:
every request, with all its repetitions and its wait for a token, ends within the time limit, which
is told to the server as well (`?timeout=5s`). It ends with the lease as the server has it now, or
raises one of `FAILURES`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from podium.client import Clock, KubeClient, RequestFailed, Unreachable
from podium.client.api_errors import NotFound
from podium.client.resources import EVENTS, LEASES
from podium.golang.durations import Duration
from podium.golang.errors import InputError
from podium.kubernetes.kinds.storage import ObjectReference
from podium.kubernetes.rules.timestamps import micro_time_text, time_text
from podium.live.event_writing import CoreEventBody, EventMeta, EventSource
from podium.scheduler.config.types import LeaderElectionConfiguration


class LeaderElectionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads, and for how long others have to respect that."""

    holder: str = ""
    """Empty if nobody leads: whoever wants may."""
    duration_s: int = 0
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def record(self) -> LeaderElectionRecord:
        return LeaderElectionRecord(
            holder=self.holder_identity or "",
            duration_s=self.lease_duration_seconds or 0,
            acquired=self.acquire_time or "",
            renewed=self.renew_time or "",
            transitions=self.lease_transitions or 0,
        )


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Seen(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec | None = None


class _Pieces(msgspec.Struct):
    spec: dict[str, msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class ObservedLease:
    """A lease as the server had it at `resource_version`."""

    record: LeaderElectionRecord
    name: str
    namespace: str
    uid: str
    resource_version: str
    _document: Mapping[str, msgspec.Raw]
    _spec: Mapping[str, msgspec.Raw]

    def encode_update(self, record: LeaderElectionRecord) -> bytes:
        """The same lease with another record; refused by the server if it has changed since."""
        return msgspec.json.encode({**self._document, "spec": {**self._spec, **_fields(record)}})


def read_lease(body: bytes) -> ObservedLease:
    """Raises InputError."""
    try:
        seen = msgspec.json.decode(body, type=_Seen)
        document = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        spec = msgspec.json.decode(body, type=_Pieces).spec or {}
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise InputError(f"the answer is no Lease: {problem}") from None
    return ObservedLease(
        record=seen.spec.record if seen.spec is not None else LeaderElectionRecord(),
        name=seen.metadata.name,
        namespace=seen.metadata.namespace,
        uid=seen.metadata.uid,
        resource_version=seen.metadata.resource_version,
        _document=document,
        _spec=spec,
    )


def new_lease(namespace: str, name: str, record: LeaderElectionRecord) -> bytes:
    return msgspec.json.encode(
        {
            "kind": LEASES.kind,
            "apiVersion": LEASES.api_version,
            "metadata": {"name": name, "namespace": namespace},
            "spec": _fields(record),
        }
    )


def _fields(record: LeaderElectionRecord) -> dict[str, str | int]:
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration_s,
        "acquireTime": record.acquired,
        "renewTime": record.renewed,
        "leaseTransitions": record.transitions,
    }


FAILURES: Final = (RequestFailed, InputError)

_SHORTEST: Final = Duration.of_seconds(1)


class LeaseLock:
    """One lease, by namespace and name."""

    def __init__(self, client: KubeClient, settings: LeaderElectionConfiguration) -> None:
        self.namespace = settings.resource_namespace
        self.name = settings.resource_name
        self.time_limit = max(_SHORTEST, Duration(settings.renew_deadline.nanoseconds // 2))
        self._client = client

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    async def read(self) -> ObservedLease:
        return read_lease(await self._request("GET", LEASES.path(self.namespace, self.name)))

    async def create(self, record: LeaderElectionRecord) -> ObservedLease:
        body = new_lease(self.namespace, self.name, record)
        return read_lease(await self._request("POST", LEASES.path(self.namespace), body))

    async def update(self, lease: ObservedLease, record: LeaderElectionRecord) -> ObservedLease:
        path = LEASES.path(self.namespace, self.name)
        return read_lease(await self._request("PUT", path, lease.encode_update(record)))

    async def announce(
        self, lease: ObservedLease, message: str, component: str, wall_s: float
    ) -> None:
        """An event about the lease; of the core group, whatever group other events are in."""
        body = msgspec.json.encode(_event(lease, message, component, wall_s))
        await self._request("POST", EVENTS.path(self.namespace), body)

    async def _request(self, method: str, path: str, body: bytes = b"") -> bytes:
        query = (("timeout", str(self.time_limit)),)
        try:
            async with asyncio.timeout(self.time_limit.seconds):
                return await self._client.request(method, path, query, body)
        except TimeoutError:
            raise Unreachable(
                f"no answer to {method} {path} within {self.time_limit}", in_time=False
            ) from None


def _event(lease: ObservedLease, message: str, component: str, wall_s: float) -> CoreEventBody:
    return CoreEventBody(
        metadata=EventMeta(f"{lease.name}.{int(wall_s * 1e9):x}", lease.namespace),
        involved_object=ObjectReference(
            api_version=LEASES.api_version,
            kind=LEASES.kind,
            namespace=lease.namespace,
            name=lease.name,
            uid=lease.uid,
            resource_version=lease.resource_version,
        ),
        reason="LeaderElection",
        message=message,
        source=EventSource(component),
        first_timestamp=time_text(wall_s),
        last_timestamp=time_text(wall_s),
        count=1,
        type="Normal",
        api_version=EVENTS.api_version,
        kind=EVENTS.kind,
        reporting_component=component,
    )


_SAFE_SHARE: Final = 0.95
"""Of a lease's duration; the rest is for clocks that run at different speeds."""


class ElectionLog(Protocol):
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
        log: ElectionLog,
        on_slow_renewal: Callable[[], None] = lambda: None,
    ) -> None:
        self.lease: ObservedLease | None = None
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
            renewing = self._lock.update(self.lease, self._build_renewed_record(self.lease.record))
            failure = "Failed to update lease optimistically, falling back to slow path"
            if await self._write(renewing, failure, v=2):
                return True
        try:
            found = await self._lock.read()
        except NotFound:
            creating = self._lock.create(self._build_acquired_record(transitions=0))
            return await self._write(creating, "Error initially creating lease lock")
        except FAILURES as problem:
            self._note_failure("Error retrieving lease lock", problem)
            return False
        self._observe(found)
        if self.holder == self._identity:
            self.slow_renewals += 1
            self._on_slow_renewal()
            record = self._build_renewed_record(found.record)
        elif self.holder and self._is_valid(now):
            self.trouble = ""
            held = "Lease is held by and has not yet expired"
            self._log.info(held, v=4, lock=str(self._lock), holder=self.holder)
            return False
        else:
            record = self._build_acquired_record(transitions=found.record.transitions + 1)
        return await self._write(self._lock.update(found, record), "Failed to update lease")

    async def release(self) -> None:
        """Give the lease back, so that others need not wait for its end; two requests at most."""
        self.may_hold = False
        try:
            lease = await self._lock.read()
            self._observe(lease)
            if self.holder != self._identity:
                return
            mine = self._build_acquired_record(transitions=lease.record.transitions)
            nobodys = msgspec.structs.replace(mine, holder="", duration_s=1)
            self._observe(await self._lock.update(lease, nobodys))
        except NotFound:
            self._log.info("lease lock not found", lock=str(self._lock))
        except FAILURES as problem:
            self._note_failure("Failed to release lease", problem)

    def _is_valid(self, now: float) -> bool:
        """Whether what was seen is to be respected; it is the record's own duration that counts."""
        return self.lease is not None and self.seen_at + self.lease.record.duration_s > now

    def _build_acquired_record(self, transitions: int) -> LeaderElectionRecord:
        stamp = self._stamp()
        return LeaderElectionRecord(
            holder=self._identity,
            duration_s=self._lease_s,
            acquired=stamp,
            renewed=stamp,
            transitions=transitions,
        )

    def _build_renewed_record(self, held: LeaderElectionRecord) -> LeaderElectionRecord:
        return msgspec.structs.replace(held, duration_s=self._lease_s, renewed=self._stamp())

    def _stamp(self) -> str:
        """The time, never the same twice: to others a record that looks as before is none."""
        wall_s = self._wall()
        self._nudges = self._nudges + 1 if wall_s == self._stamped_s else 0
        self._stamped_s = wall_s
        return micro_time_text(wall_s + self._nudges * 1e-6)

    async def _write(
        self, writing: Coroutine[Any, Any, ObservedLease], failure: str, v: int | None = None
    ) -> bool:
        """Whether the lease is held now; `v` is the verbosity at which a failure is no error."""
        sent_at = self._clock.now()
        self.may_hold = True
        try:
            lease = await writing
        except FAILURES as problem:
            self._note_failure(failure, problem, v)
            return False
        self._observe(lease)
        now = self.seen_at = self._clock.now()
        self.trouble = ""
        self.held_until = min(
            now + self._patience_s, sent_at + _SAFE_SHARE * lease.record.duration_s
        )
        return self.holder == self._identity and now < self.held_until

    def _observe(self, lease: ObservedLease) -> None:
        if self.lease is None or lease.record != self.lease.record:
            self.seen_at = self._clock.now()
        self.lease = lease
        if self.holder != self._identity:
            self.may_hold = False

    def _note_failure(self, what: str, problem: Exception, v: int | None = None) -> None:
        self.trouble = str(problem) or type(problem).__name__
        if v is None:
            self._log.error(what, err=self.trouble, lock=str(self._lock))
        else:
            self._log.info(what, v=v, lock=str(self._lock), err=self.trouble)
