"""Disruption budgets: counted anew whenever a pod that they select changes.

The pods of a budget are followed one by one, so that a change costs as much with ten thousand of
them as with ten.

Evictions read `disruptionsAllowed` and note each pod that they take in `disruptedPods`; such a pod
does not count as healthy until it is gone, or has not gone within two minutes
(`pkg/controller/disruption/disruption.go`; the counts: `podium.kubernetes.rules.disruptions`).
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Plan,
    Wake,
    read_reported_fields,
    sooner,
    status_patch,
)
from podium.kubernetes.controllers.objects import changed_condition
from podium.kubernetes.controllers.ownership import wake_changed
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.meta import LabelSelector, OwnerReference
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.resources.resource_types import POD_DISRUPTION_BUDGETS
from podium.kubernetes.rules.disruptions import Guarded, Scale, Scaled, count_disruptions
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

_BELIEVED_S: Final = 120.0


class GuardedPods:
    """Those that a selector matches in one namespace and that have not ended."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._pods: dict[str, Pod] = {}
        self._ready: set[str] = set()
        self._owners: Counter[OwnerReference] = Counter()
        for pod in pods:
            self.put(pod)

    def put(self, pod: Pod) -> None:
        self.drop(pod.name)
        if pod.is_ended:
            return
        self._pods[pod.name] = pod
        if pod.metadata.controller is not None:
            self._owners[pod.metadata.controller] += 1
        if pod.is_ready and not pod.metadata.is_terminating:
            self._ready.add(pod.name)

    def drop(self, name: str) -> bool:
        """Whether it was there."""
        pod = self._pods.pop(name, None)
        if pod is None:
            return False
        self._ready.discard(name)
        owner = pod.metadata.controller
        if owner is not None:
            self._owners[owner] -= 1
            if not self._owners[owner]:
                del self._owners[owner]
        return True

    def is_staying(self, name: str) -> bool:
        """Whether a pod is there and not on its way out."""
        pod = self._pods.get(name)
        return pod is not None and not pod.metadata.is_terminating

    def count(self, namespace: str, disrupted: set[str]) -> Guarded:
        """Those that are `disrupted` count as not healthy."""
        healthy = len(self._ready) - len(self._ready & disrupted)
        return Guarded(namespace, len(self._pods), self._owners, healthy)


def decide(budget: PodDisruptionBudget, pods: GuardedPods, scale: Scale, moment: Moment) -> Plan:
    """`pods` are those of the namespace that its selector matches."""
    if budget.metadata.is_terminating:
        return NOTHING
    disrupted, again_after_s = _find_disrupted_pods(budget, pods, moment)
    guarded = pods.count(budget.namespace, disrupted)
    expected, desired, allowed = count_disruptions(budget.spec, guarded, scale)
    status: JsonObject = {
        "observedGeneration": budget.metadata.generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": guarded.healthy,
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
    elif not gone and status == read_reported_fields(budget.status, status):
        return Plan([], again_after_s)
    status["disruptedPods"] = gone
    return Plan([status_patch(POD_DISRUPTION_BUDGETS, budget, status)], again_after_s)


def _find_disrupted_pods(
    budget: PodDisruptionBudget, pods: GuardedPods, moment: Moment
) -> tuple[set[str], float | None]:
    """Pods whose eviction is believed to be under way, and when the first is doubted."""
    kept: set[str] = set()
    rests: list[float] = []
    for name, since in (budget.status.disrupted_pods or {}).items():
        rest_s = _BELIEVED_S - moment.age_s(since)
        if pods.is_staying(name) and rest_s > 0:
            kept.add(name)
            rests.append(rest_s)
    return kept, sooner(*rests)


class _Followed:
    """What a budget selects, as long as its selector stays."""

    def __init__(self, written: LabelSelector | None, pods: Iterable[Pod]) -> None:
        self.written = written
        self._selector = selector_or_nothing(written)
        self.pods = GuardedPods(pod for pod in pods if self._matches(pod))

    def take(self, old: Pod | None, new: Pod | None) -> bool:
        """A pod has changed; whether that matters to the budget."""
        if new is not None and self._matches(new):
            self.pods.put(new)
            return True
        gone = old or new
        return gone is not None and self.pods.drop(gone.name)

    def _matches(self, pod: Pod) -> bool:
        return self._selector.matches(pod.metadata.labels)


class DisruptionBudgets:
    """Keys are the namespace and name of a budget."""

    name = "disruptionbudgets"

    def __init__(self, stores: Stores) -> None:
        self._budgets, self._pods = stores.budgets, stores.pods
        self._replica_sets, self._deployments = stores.replica_sets, stores.deployments
        self._stateful_sets = stores.stateful_sets
        self._controllers = stores.replication_controllers
        self._followed: dict[tuple[str, str], _Followed] = {}

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            for budget in self._budgets.in_namespace.of((new or old or _NO_POD).namespace):
                if self._follow(budget).take(old, new):
                    wake(budget.metadata.key)

        wake_changed(self._budgets, wake)
        self._budgets.listen(self._forget)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        budget = self._budgets.find(key)
        if budget is None:
            return NOTHING
        return decide(budget, self._follow(budget).pods, self._scale, moment)

    def is_settled(self, key: tuple[str, str]) -> bool:
        """Whether a plan would change nothing of a budget that evictions read, but perhaps its
        counts of pods: of many pods that become ready one by one, few change more."""
        budget = self._budgets.find(key)
        if budget is None:
            return True
        status = budget.status
        if status.disrupted_pods or status.observed_generation != budget.metadata.generation:
            return False
        guarded = self._follow(budget).pods.count(budget.namespace, set())
        allowed = count_disruptions(budget.spec, guarded, self._scale).allowed
        return allowed == status.disruptions_allowed and bool(status.conditions)

    def _follow(self, budget: PodDisruptionBudget) -> _Followed:
        key, written = budget.metadata.key, budget.spec.selector
        found = self._followed.get(key)
        if found is None or found.written != written:
            pods = self._pods.in_namespace.of(budget.namespace)
            found = self._followed[key] = _Followed(written, pods)
        return found

    def _forget(self, old: PodDisruptionBudget | None, new: PodDisruptionBudget | None) -> None:
        if new is None and old is not None:
            self._followed.pop(old.metadata.key, None)

    def _scale(self, namespace: str, owner: OwnerReference) -> Scaled | None:
        match owner.kind:
            case "ReplicaSet":
                found = self._replica_sets.get(namespace, owner.name)
                if found is None:
                    return None
                above = found.metadata.controller
                deployment = above and self._deployments.get(namespace, above.name)
                if deployment:
                    return Scaled("Deployment", deployment.name, deployment.wanted)
                return Scaled(owner.kind, owner.name, found.wanted)
            case "StatefulSet":
                stateful = self._stateful_sets.get(namespace, owner.name)
                return Scaled(owner.kind, owner.name, stateful.wanted) if stateful else None
            case "ReplicationController":
                controller = self._controllers.get(namespace, owner.name)
                if controller is None:
                    return None
                return Scaled(owner.kind, owner.name, controller.as_replica_set().wanted)
        return None


_NO_POD: Final = Pod()
