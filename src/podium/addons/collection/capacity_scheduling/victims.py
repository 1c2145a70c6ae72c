"""Whom a pod may preempt where quotas rule.

A namespace that has not used up what it is guaranteed takes it back from namespaces that have
borrowed, whatever the priorities; one that has may only make its own weaker pods leave. Pods
without a quota and pods with one leave each other alone.

Upstream takes a pod twice that neither filters nor quotas let back, which is an error, and forgets
the budget of one that only quotas keep out; here a pod that may not come back is one victim,
whatever the reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from podium.addons.collection.capacity_scheduling.quota_state import QuotaState
from podium.plugin import Cycle, PodInfo, Status, unschedulable
from podium.scheduler.plugins.default_preemption.dry_run import VictimRules, importance

NAME: Final = "CapacityScheduling"
QUOTA_EXCEEDED: Final = unschedulable("global quota max exceeded")


class QuotaVictims(VictimRules):
    """For pods of a namespace that has a quota; `state` is that of the attempt itself."""

    stable = False

    def __init__(self, state: QuotaState) -> None:
        self._has_used_up_min = state.is_over_min_with(state.in_quota)

    def in_order(self, pods: Sequence[PodInfo]) -> Sequence[PodInfo]:
        return sorted(pods, key=importance, reverse=True)

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool:
        namespace = pod.shape.namespace
        if namespace == trial.pod.shape.namespace:
            return self._has_used_up_min and pod.priority < trial.pod.priority
        return not self._has_used_up_min and _has_borrowed(trial, namespace)

    def refuse_emptied(self, trial: Cycle) -> Status | None:
        state = trial.read(NAME, QuotaState)
        too_much = state.is_over_max_with(state.request)
        too_much = too_much or state.is_total_over_min_with(state.request)
        return QUOTA_EXCEEDED if too_much else None

    def refuse_given_back(self, trial: Cycle) -> Status | None:
        state = trial.read(NAME, QuotaState)
        too_much = state.is_over_max_with(state.in_quota)
        too_much = too_much or state.is_total_over_min_with(state.in_all)
        return QUOTA_EXCEEDED if too_much else None

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        namespace = pod.shape.namespace
        if namespace == cycle.pod.shape.namespace:
            return pod.priority < cycle.pod.priority
        return not self._has_used_up_min and _has_borrowed(cycle, namespace)


class UnlimitedVictims(VictimRules):
    """For pods of a namespace without a quota; `namespaces` have one."""

    stable = False

    def __init__(self, namespaces: frozenset[str]) -> None:
        self._namespaces = namespaces

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool:
        return pod.priority < trial.pod.priority and pod.shape.namespace not in self._namespaces

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        return self.may_leave(cycle, pod)


def borrowed_pods(state: QuotaState, pods: Iterable[PodInfo]) -> Iterator[PodInfo]:
    """Pods of other namespaces that run on what these have borrowed, the least important first;
    `state` sees them go."""
    for pod in sorted(pods, key=importance, reverse=True):
        namespace = pod.shape.namespace
        borrows = namespace in state.quotas and namespace != state.quota.namespace
        if borrows and state.is_over_min(namespace):
            state.imagine(pod, -1)
            yield pod


def _has_borrowed(cycle: Cycle, namespace: str) -> bool:
    state = cycle.read(NAME, QuotaState)
    return namespace in state.quotas and state.is_over_min(namespace)
