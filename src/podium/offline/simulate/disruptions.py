"""Disruption budgets that nobody has counted yet.

A controller keeps `status.disruptionsAllowed` up to date, and preemption reads nothing else. For a
budget from a manifest it is worked out here over the pods of the input, of which all that have a
node count as healthy.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from podium.kubernetes.controllers.objects import selector_or_nothing
from podium.kubernetes.controllers.workloads import (
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from podium.kubernetes.kinds.meta import KubeObject, OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PodDisruptionBudgetStatus
from podium.kubernetes.rules.disruptions import Scale, count_disruptions
from podium.offline.simulate.admission import is_stored

_Scaled = Deployment | ReplicaSet | ReplicationController | StatefulSet


def count_budget(
    budget: PodDisruptionBudget, pods: Iterable[Pod], scale: Scale
) -> PodDisruptionBudget:
    """The budget with its status filled in, unless a cluster has done that already."""
    if is_stored(budget) or budget.status.expected_pods or budget.status.disruptions_allowed:
        return budget
    selector = selector_or_nothing(budget.spec.selector)
    selected = [
        pod
        for pod in pods
        if pod.namespace == budget.namespace and selector.matches(pod.metadata.labels)
    ]
    healthy = sum(bool(pod.spec.node_name) for pod in selected)
    expected, desired, allowed = count_disruptions(
        budget.spec, [pod.metadata for pod in selected], healthy, scale
    )
    status = replace(
        budget.status,
        expected_pods=expected,
        current_healthy=healthy,
        desired_healthy=desired,
        disruptions_allowed=allowed,
    )
    return replace(budget, status=status)


def recount_budget(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """The budget of a manifest as its controller has it once the pods are where they are; who made
    them wants as many as there are. One that a cluster has counted keeps its count."""
    if is_stored(budget):
        return budget
    return count_budget(replace(budget, status=PodDisruptionBudgetStatus()), pods, lambda *_: None)


def scales_of(objects: Iterable[KubeObject]) -> Scale:
    """How many pods the controllers of the input want; a deployment speaks for its replica sets."""
    found: dict[tuple[str, str, str], _Scaled] = {
        (obj.namespace, obj.kind, obj.name): obj for obj in objects if isinstance(obj, _Scaled)
    }

    def scale(namespace: str, owner: OwnerReference) -> int | None:
        controller = found.get((namespace, owner.kind, owner.name))
        if isinstance(controller, ReplicationController):
            return controller.as_replica_set().wanted
        if isinstance(controller, ReplicaSet) and controller.metadata.controller is not None:
            above = scale(namespace, controller.metadata.controller)
            return controller.wanted if above is None else above
        if controller is None and owner.kind == "ReplicaSet":
            deployment = found.get((namespace, "Deployment", owner.name.rpartition("-")[0]))
            return deployment.wanted if isinstance(deployment, Deployment) else None
        return controller.wanted if controller is not None else None

    return scale
