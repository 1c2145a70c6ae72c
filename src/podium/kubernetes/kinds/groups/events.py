"""The kinds of the group `events.k8s.io`."""

from typing import Final

from podium.kubernetes.conversion.events import as_core_event, as_new_event
from podium.kubernetes.kinds.record import EVENT_FIELDS, Kind, OwnForm, Validation
from podium.kubernetes.tables.cluster import EVENT
from podium.kubernetes.validation import events

KINDS: Final = (
    Kind(
        "events.k8s.io",
        "Event",
        "events",
        ("ev",),
        description="Something that happened to an object.",
        form=OwnForm("events", as_new_event, as_core_event),
        stored_in=("", "v1"),
        validation=Validation(events.create_errors, events.update_errors),
        printer=EVENT,
        selectable_fields=EVENT_FIELDS,
        # upstream: the names that the newer group gives to the same fields.
        field_aliases={
            "regarding.kind": "involvedObject.kind",
            "regarding.namespace": "involvedObject.namespace",
            "regarding.name": "involvedObject.name",
            "regarding.uid": "involvedObject.uid",
            "regarding.apiVersion": "involvedObject.apiVersion",
            "regarding.resourceVersion": "involvedObject.resourceVersion",
            "regarding.fieldPath": "involvedObject.fieldPath",
            "reportingController": "reportingComponent",
            "reason": "reason",
            "type": "type",
        },
        selector_refusal="field label not supported: {field}",
    ),
)
