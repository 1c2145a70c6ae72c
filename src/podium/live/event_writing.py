"""Events as the API server stores them, and how they are carried there.

An event is worth some patience and no more. While the server cannot be reached it is tried up to
twelve times, some ten seconds apart; what the server refuses is given up at once. A patch of an
event that the server has let expire becomes a new event
(`staging/src/k8s.io/client-go/tools/events/event_broadcaster.go`, `attemptRecording` and
`recordEvent`).

Several writes are under way at a time, but only one about the same object: the second of a series
must not overtake the first.

Events as the API server stores them, in the two groups that serve them. `events.k8s.io/v1` wants to
know who did what and when, to the microsecond, and counts in a series; core/v1, for servers that
have nothing else, counts in `count` between two times. Here is only how an event of the engine
looks in each: what becomes of the second one like it is the business of
`event_recorder`.

Sources: `makeEvent` in `staging/src/k8s.io/client-go/tools/events/event_recorder.go` and in
`staging/src/k8s.io/client-go/tools/record/event.go`.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from typing import Final
from uuid import UUID

import msgspec

from podium.client import Clock, KubeClient, PatchType, ResourceType, Unreachable
from podium.client.api_errors import AlreadyExists, ApiError, NotFound
from podium.client.resources import EVENTS, EVENTS_K8S_IO
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.storage import ObjectReference
from podium.kubernetes.rules.timestamps import micro_time_text, time_text
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Event

_LONGEST_NAME: Final = 253
_NS_PER_S: Final = 1_000_000_000


class _Body(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True, gc=False):
    """Parts of events. No cycle can go through them, so the collector need not look at them."""


class EventMeta(_Body, frozen=True, gc=False):
    name: str
    namespace: str


class SeriesBody(_Body, frozen=True, gc=False):
    count: int
    last_observed_time: str


class SeriesPatch(_Body, frozen=True, gc=False):
    series: SeriesBody


class EventBody(_Body, frozen=True, gc=False):
    """An event of `events.k8s.io/v1`."""

    metadata: EventMeta
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: ObjectReference
    note: str
    type: str
    api_version: str
    kind: str
    related: ObjectReference | None = None
    series: SeriesBody | None = None

    @property
    def about(self) -> str:
        return f"{self.metadata.namespace}/{self.regarding.name}"


class EventSource(_Body, frozen=True, gc=False):
    component: str


class CorePatch(_Body, frozen=True, gc=False):
    count: int
    last_timestamp: str
    message: str


class CoreEventBody(_Body, frozen=True, gc=False):
    """An event of core/v1."""

    metadata: EventMeta
    involved_object: ObjectReference
    reason: str
    message: str
    source: EventSource
    first_timestamp: str
    last_timestamp: str
    count: int
    type: str
    api_version: str
    kind: str
    reporting_component: str = ""

    @property
    def about(self) -> str:
        return f"{self.metadata.namespace}/{self.involved_object.name}"


class EventNames:
    """Names of events: the object's with the nanosecond, no two the same."""

    def __init__(self, randomness: Random) -> None:
        self._randomness = randomness
        self._last_ns = 0

    def name(self, regarding: str, at: float) -> str:
        # A clock may stand still between two events, or go back.
        self._last_ns = max(int(at * _NS_PER_S), self._last_ns + 1)
        name = f"{regarding}.{self._last_ns:x}"
        if len(name) <= _LONGEST_NAME:
            return name
        # upstream: a name that is too long for an event is replaced as a whole.
        return str(UUID(int=self._randomness.getrandbits(128), version=4))


def event_body(event: Event, name: str, at: float, host: str) -> EventBody:
    regarding = reference_to(event.pod)
    profile = profile_of(event)
    return EventBody(
        metadata=EventMeta(name, regarding.namespace),
        event_time=micro_time_text(at),
        reporting_controller=profile,
        reporting_instance=f"{profile}-{host}",
        action=event.action,
        reason=event.reason,
        regarding=regarding,
        note=event.note,
        type=event.type,
        api_version=EVENTS_K8S_IO.api_version,
        kind=EVENTS_K8S_IO.kind,
        related=None if event.related is None else reference_to(event.related),
    )


def core_event_body(event: Event, name: str, at: float) -> CoreEventBody:
    # upstream: neither the action nor the related object are told in this form.
    regarding = reference_to(event.pod)
    profile = profile_of(event)
    return CoreEventBody(
        metadata=EventMeta(name, regarding.namespace),
        involved_object=regarding,
        reason=event.reason,
        message=event.note,
        source=EventSource(profile),
        first_timestamp=time_text(at),
        last_timestamp=time_text(at),
        count=1,
        type=event.type,
        api_version=EVENTS.api_version,
        kind=EVENTS.kind,
        reporting_component=profile,
    )


def profile_of(event: Event) -> str:
    """Whose event it is: the profile that handled the pod, or, of a victim, the preemptor's.

    A victim may belong to a scheduler that has nothing to do with its end.
    """
    actor = event.related if isinstance(event.related, PodInfo) else event.pod
    return actor.pod.spec.scheduler_name


def reference_to(subject: PodInfo | PodGroup) -> ObjectReference:
    about = subject.pod if isinstance(subject, PodInfo) else subject
    metadata = about.metadata
    return ObjectReference(
        api_version=about.api_version,
        kind=about.kind,
        namespace=metadata.namespace or "default",
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )


MAX_TRIES: Final = 12
RETRY_S: Final = 10.0
JITTER: Final = 0.25
_LOG: Final = logging.getLogger("podium.live")


@dataclass(frozen=True, slots=True)
class Write:
    """A new event; or, with a patch, a change to one, and what it is as a whole then."""

    resource: ResourceType
    body: EventBody | CoreEventBody
    patch: SeriesPatch | CorePatch | None = None

    @property
    def about(self) -> str:
        return self.body.about

    def __str__(self) -> str:
        return f"{self.body.reason} of {self.about} ({self.body.metadata.name})"


class WriteOutcome(Enum):
    WRITTEN = auto()
    REFUSED = auto()
    UNREACHED = auto()
    """Worth another try."""


@dataclass(slots=True)
class EventCounts:
    """What became of events so far."""

    recorded: int = 0
    """Accepted."""
    dropped: int = 0
    """Refused because too many were waiting."""
    counted: int = 0
    """Not written: a series, a count or a limit has taken them in."""
    written: int = 0
    """Requests that the server has granted."""
    failed: int = 0
    """Writes that were given up."""


class EventWriter:
    def __init__(
        self, client: KubeClient, counts: EventCounts, *, clock: Clock, randomness: Random
    ) -> None:
        self._client = client
        self._counts = counts
        self._clock = clock
        self._randomness = randomness

    async def write(self, write: Write) -> None:
        """Try until it is written, refused or has been tried often enough. Raises nothing."""
        for tries_left in range(MAX_TRIES - 1, -1, -1):
            if await self.once(write) is not WriteOutcome.UNREACHED:
                return
            if tries_left:
                jitter = 1 + JITTER * self._randomness.random()
                await self._clock.sleep(RETRY_S * jitter)
        _LOG.error("Unable to write event (retry limit exceeded!): %s", write)
        self._counts.failed += 1

    async def once(self, write: Write) -> WriteOutcome:
        """One try. Raises nothing."""
        try:
            await self._send(write)
        except Unreachable as problem:
            _LOG.warning("Unable to write event (may retry after sleeping): %s: %s", write, problem)
            return WriteOutcome.UNREACHED
        except AlreadyExists as problem:
            if write.patch is not None:
                # It was not there to be patched and is now.
                return WriteOutcome.UNREACHED
            # Names are not used twice: an earlier try got there, only its answer did not come.
            _LOG.debug("event %s is there already: %s", write, problem)
        except ApiError as problem:
            _LOG.error("Server rejected event (will not retry!): %s: %s", write, problem)
            self._counts.failed += 1
            return WriteOutcome.REFUSED
        except Exception:
            _LOG.exception("event %s could not be written", write)
            self._counts.failed += 1
            return WriteOutcome.REFUSED
        self._counts.written += 1
        return WriteOutcome.WRITTEN

    async def _send(self, write: Write) -> None:
        metadata = write.body.metadata
        if write.patch is not None:
            try:
                await self._client.patch(
                    write.resource,
                    metadata.name,
                    write.patch,
                    metadata.namespace,
                    kind=PatchType.STRATEGIC,
                )
                return
            except NotFound:
                pass
        await self._client.create(write.resource, write.body, metadata.namespace)


class Lanes:
    """Writes in order: about one object one after the other, about several side by side.

    As many go on at once as there are workers. A write leaves its lane when it has ended; one
    whose worker is cancelled stays where it was, for the next.
    """

    def __init__(self, carry: Callable[[Write], Awaitable[None]]) -> None:
        self.unfinished = 0
        """Writes that wait or are under way."""
        self._carry = carry
        self._lanes: dict[str, deque[Write]] = {}
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._empty = asyncio.Event()
        self._empty.set()

    def put(self, write: Write) -> None:
        self.unfinished += 1
        self._empty.clear()
        about = write.about
        lane = self._lanes.get(about)
        if lane is not None:
            lane.append(write)
            return
        self._lanes[about] = deque((write,))
        self._ready.put_nowait(about)

    def is_busy(self, about: str) -> bool:
        return about in self._lanes

    async def until_empty(self) -> None:
        await self._empty.wait()

    async def work(self) -> None:
        """Carry one write after the other, until cancelled."""
        while True:
            about = await self._ready.get()
            lane = self._lanes[about]
            try:
                await self._carry(lane[0])
            except asyncio.CancelledError:
                self._ready.put_nowait(about)
                raise
            lane.popleft()
            if lane:
                self._ready.put_nowait(about)
            else:
                del self._lanes[about]
            self.unfinished -= 1
            if not self.unfinished:
                self._empty.set()
