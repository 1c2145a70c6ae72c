"""Events that controllers write about the objects that they keep, and what is done without pods
that were refused."""

from podium.kubernetes.controllers.actions import (
    NOTHING,
    Create,
    Plan,
    find_creation,
    without_creations,
)
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.resources.resource_types import EVENTS, PODS
from podium.kubernetes.rules.moment import Moment


def event_about(
    obj: KubeObject, component: str, type_: str, reason: str, message: str, moment: Moment
) -> Create:
    metadata = obj.metadata
    body = {
        "metadata": {"generateName": f"{metadata.name}.", "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": obj.api_version,
            "kind": obj.kind,
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": type_,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": moment.timestamp,
        "lastTimestamp": moment.timestamp,
        "count": 1,
    }
    return Create(EVENTS, metadata.namespace, body)


def plan_without_pods(
    obj: KubeObject, plan: Plan, component: str, problem: Exception, moment: Moment
) -> Plan:
    """What of a plan needs no new pods, the status included, and an Event on why there are none;
    nothing if the plan makes no pods."""
    if find_creation(plan, PODS) is None:
        return NOTHING
    told = f"Error creating: {problem}"
    event = event_about(obj, component, "Warning", "FailedCreate", told, moment)
    return Plan([*without_creations(plan), event])
