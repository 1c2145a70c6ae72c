"""Conditions: written when they change, with the time at which their status did.

Patches of a status are strategic merges in which conditions are known by their type, so only
those that change are sent.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import condition_of
from podium.kubernetes.kinds.meta import Condition
from podium.kubernetes.rules.moment import Moment


def changed_condition(
    present: tuple[Condition, ...] | None,
    moment: Moment,
    type_: str,
    status: str,
    reason: str,
    message: str,
    **more: object,
) -> JsonObject | None:
    """The condition to write; None if it says nothing new."""
    known = condition_of(present, type_)
    if known is not None and (known.status, known.reason, known.message) == (
        status,
        reason,
        message,
    ):
        return None
    since = moment.timestamp
    if known is not None and known.status == status and known.last_transition_time:
        since = known.last_transition_time
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
        **more,
    }


def pod_disruption(moment: Moment, reason: str, message: str) -> JsonObject:
    """The condition on a pod that somebody is about to delete."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": moment.timestamp,
    }
