"""Disruption budgets: counted anew whenever a pod that they select changes.

Evictions read `disruptionsAllowed` and note each pod that they take in `disruptedPods`; such a pod
does not count as healthy until it is gone, or has not gone within two minutes
(`pkg/controller/disruption/disruption.go`; the counts: `podium.kubernetes.rules.disruptions`).
"""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.actions import NOTHING, Plan, reported, sooner, status_patch
from podium.kubernetes.controllers.conditions import changed_condition
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.objects import selector_or_nothing
from podium.kubernetes.controllers.ownership import wake_changed
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.meta import OwnerReference
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.resources.resource_types import POD_DISRUPTION_BUDGETS
from podium.kubernetes.rules.disruptions import Scale, count_disruptions
from podium.kubernetes.rules.moment import Moment

_BELIEVED_S: Final = 120.0


def decide(
    budget: PodDisruptionBudget, selected: Sequence[Pod], scale: Scale, moment: Moment
) -> Plan:
    """`selected` are the pods of the namespace that its selector matches."""
    if budget.metadata.is_terminating:
        return NOTHING
    pods = [pod for pod in selected if not pod.is_ended]
    disrupted, again_after_s = _disrupted(budget, pods, moment)
    healthy = sum(
        pod.is_ready and not pod.metadata.is_terminating and pod.name not in disrupted
        for pod in pods
    )
    expected, desired, allowed = count_disruptions(
        budget.spec, [pod.metadata for pod in pods], healthy, scale
    )
    status: JsonObject = {
        "observedGeneration": budget.metadata.generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
    }
    gone = {name: None for name in budget.status.disrupted_pods or () if name not in disrupted}
    state = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    condition = changed_condition(
        budget.status.conditions,
        moment,
        "DisruptionAllowed",
        *state,
        "",
        observedGeneration=budget.metadata.generation,
    )
    if condition is not None:
        status["conditions"] = [condition]
    elif not gone and status == reported(budget.status, status):
        return Plan([], again_after_s)
    status["disruptedPods"] = gone
    return Plan([status_patch(POD_DISRUPTION_BUDGETS, budget, status)], again_after_s)


def _disrupted(
    budget: PodDisruptionBudget, pods: Sequence[Pod], moment: Moment
) -> tuple[set[str], float | None]:
    """Pods whose eviction is believed to be under way, and when the first is doubted."""
    there = {pod.name for pod in pods if not pod.metadata.is_terminating}
    kept: set[str] = set()
    rests: list[float] = []
    for name, since in (budget.status.disrupted_pods or {}).items():
        rest_s = _BELIEVED_S - moment.age_s(since)
        if name in there and rest_s > 0:
            kept.add(name)
            rests.append(rest_s)
    return kept, sooner(*rests)


class DisruptionBudgets:
    """Keys are the namespace and name of a budget."""

    name = "disruptionbudgets"

    def __init__(self, stores: Stores) -> None:
        self._budgets, self._pods = stores.budgets, stores.pods
        self._replica_sets, self._deployments = stores.replica_sets, stores.deployments
        self._stateful_sets = stores.stateful_sets
        self._controllers = stores.replication_controllers

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            for budget in self._budgets.in_namespace.of((new or old or _NO_POD).namespace):
                selector = selector_or_nothing(budget.spec.selector)
                if any(pod and selector.matches(pod.metadata.labels) for pod in (old, new)):
                    wake(budget.metadata.key)

        wake_changed(self._budgets, wake)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        budget = self._budgets.find(key)
        if budget is None:
            return NOTHING
        selector = selector_or_nothing(budget.spec.selector)
        pods = [
            pod
            for pod in self._pods.in_namespace.of(budget.metadata.namespace)
            if selector.matches(pod.metadata.labels)
        ]
        return decide(budget, pods, self._scale, moment)

    def _scale(self, namespace: str, owner: OwnerReference) -> int | None:
        match owner.kind:
            case "ReplicaSet":
                found = self._replica_sets.get(namespace, owner.name)
                if found is None:
                    return None
                above = found.metadata.controller
                deployment = above and self._deployments.get(namespace, above.name)
                return deployment.wanted if deployment else found.wanted
            case "StatefulSet":
                stateful = self._stateful_sets.get(namespace, owner.name)
                return stateful.wanted if stateful else None
            case "ReplicationController":
                controller = self._controllers.get(namespace, owner.name)
                return controller.as_replica_set().wanted if controller else None
        return None


_NO_POD: Final = Pod()
