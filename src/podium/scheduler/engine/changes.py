"""Which cluster events an update of an object amounts to.

A pod that was rejected is woken by what changed, not by the fact that something did: a heartbeat is
no event, a label is.

Source: `PodSchedulingPropertiesChange` and `NodeSchedulingPropertiesChange` in
`pkg/scheduler/framework/events.go`.
"""

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.requests import RequestRules, pod_requests
from podium.scheduler.framework.events import Action, ClusterEvent, Resource

_NANO_PER_MILLI = 10**6


def pod_changes(old: Pod, new: Pod, rules: RequestRules) -> list[ClusterEvent]:
    """Events of a pod update; a generic update when nothing particular is recognised."""
    resource = Resource.ASSIGNED_POD if new.spec.node_name else Resource.UNSCHEDULABLE_POD
    actions: list[Action] = []
    if (old.metadata.labels or {}) != (new.metadata.labels or {}):
        actions.append(Action.UPDATE_POD_LABEL)
    if _scaled_down(old, new, rules):
        actions.append(Action.UPDATE_POD_SCALE_DOWN)
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        actions.append(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(old.spec.tolerations or ()) != len(new.spec.tolerations or ()):
        actions.append(Action.UPDATE_POD_TOLERATION)
    if _claims(old) != _claims(new):
        actions.append(Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [ClusterEvent(resource, action) for action in actions or [Action.UPDATE]]


def is_updated(old: Pod, new: Pod) -> bool:
    """Whether a pending pod may fare better by an update of its own; without queueing hints that is
    any but those of its status."""

    def stripped(pod: Pod) -> tuple[object, ...]:
        metadata = replace(pod.metadata, resource_version="", generation=0, finalizers=None)
        return metadata, pod.spec, _claims(pod)

    return stripped(old) != stripped(new)


def _scaled_down(old: Pod, new: Pod, rules: RequestRules) -> bool:
    if old.spec is new.spec and old.status is new.status:
        return False
    # upstream: pod-level requests count here even while their gate is off
    rules = rules._replace(pod_level=True)
    after = pod_requests(new, status_resources=True, rules=rules)
    return any(
        name not in after or _milli(after[name]) < _milli(amount)
        for name, amount in pod_requests(old, status_resources=True, rules=rules).items()
    )


def _milli(nano_units: int) -> int:
    return -(-nano_units // _NANO_PER_MILLI)


def _claims(pod: Pod) -> tuple[object, object]:
    status = pod.status
    return (status.resource_claim_statuses or (), status.extended_resource_claim_status)


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """Events of a node update; none at all when nothing that matters changed."""
    actions: list[Action] = []
    if old.spec.unschedulable and not new.spec.unschedulable:
        actions.append(Action.UPDATE_NODE_TAINT)
    if old.status.allocatable != new.status.allocatable and _amounts(old) != _amounts(new):
        actions.append(Action.UPDATE_NODE_ALLOCATABLE)
    if (old.metadata.labels or {}) != (new.metadata.labels or {}):
        actions.append(Action.UPDATE_NODE_LABEL)
    if (old.spec.taints or ()) != (new.spec.taints or ()):
        actions.append(Action.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        actions.append(Action.UPDATE_NODE_CONDITION)
    if (old.metadata.annotations or {}) != (new.metadata.annotations or {}):
        actions.append(Action.UPDATE_NODE_ANNOTATION)
    if (old.status.declared_features or ()) != (new.status.declared_features or ()):
        actions.append(Action.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(Resource.NODE, action) for action in actions]


def _amounts(node: Node) -> dict[str, int]:
    """Allocatable as numbers: `1` and `1000m` are no change."""
    return {name: nano(amount) for name, amount in (node.status.allocatable or {}).items()}


def _conditions(node: Node) -> dict[str, str]:
    return {c.type: c.status for c in node.status.conditions or ()}
