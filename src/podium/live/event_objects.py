"""Events as the API server stores them, in the two groups that serve them.

`events.k8s.io/v1` wants to know who did what and when, to the microsecond, and counts in a series;
core/v1, for servers that have nothing else, counts in `count` between two times. Here is only how
an event of the engine looks in each: what becomes of the second one like it is the business of
`event_series` and `core_events`.

Sources: `makeEvent` in `staging/src/k8s.io/client-go/tools/events/event_recorder.go` and in
`staging/src/k8s.io/client-go/tools/record/event.go`.
"""

from random import Random
from typing import Final
from uuid import UUID

import msgspec

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
