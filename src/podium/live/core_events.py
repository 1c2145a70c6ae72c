"""Events of core/v1, for servers without `events.k8s.io/v1`; which of them are told, and which are
only counted, is said by client-go's rules (`event_correlator`)."""

from random import Random

from msgspec.structs import replace

from podium.client.event_correlator import MAX_REMEMBERED, EventCorrelator, EventKey
from podium.kubernetes.resources.resource_types import EVENTS
from podium.live.event_objects import CoreEventBody, CorePatch, EventNames, core_event_body
from podium.live.event_writing import Write
from podium.scheduler.engine.requests import Event


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
