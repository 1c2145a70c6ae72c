"""Events of controllers that repeat: one Event with a count, as kube-controller-manager's recorder
leaves it, instead of one for each attempt."""

from podium.client.event_correlator import EventCorrelator, EventKey, Told
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.actions import Create, Patch
from podium.kubernetes.resources.resource_types import EVENTS
from podium.kubernetes.rules.timestamps import seconds_of


class CountedEvents:
    """What a controller tells of, and what is written of it."""

    def __init__(self) -> None:
        self._correlator: EventCorrelator[str] = EventCorrelator()

    def correlate(self, event: Create) -> tuple[Create | Patch, Told[str]] | None:
        """The write that an event comes to; None if it is only counted. The name under which it
        was created is to be kept in `first`."""
        body = event.body
        about, source = body["involvedObject"], body["source"]
        key = EventKey(
            source["component"],
            (about["apiVersion"], about["kind"], about["namespace"], about["name"], about["uid"]),
            body["type"],
            body["reason"],
        )
        now = seconds_of(body["lastTimestamp"])
        occurrence = self._correlator.correlate(key, body["message"], now)
        if occurrence is None:
            return None
        told = occurrence.told
        counted: JsonObject = {"count": told.count, "message": occurrence.message}
        if told.first is None:
            return Create(EVENTS, event.namespace, {**body, **counted}), told
        counted["lastTimestamp"] = body["lastTimestamp"]
        return Patch(EVENTS, event.namespace, told.first, counted), told
