"""CapacityScheduling: the points.

PreFilter refuses a pod whose namespace would have more than its maximum, or for which nothing is
left that any namespace is guaranteed: so what others do not use can be borrowed. PostFilter takes
the place of DefaultPreemption and gives a namespace back what it is guaranteed. At Reserve there is
nothing to do, since an assumed pod counts already (`quota_usage.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from podium.addons.collection.capacity_scheduling.elastic_quotas import (
    ELASTIC_QUOTAS,
    Bounds,
    bounds_of,
)
from podium.addons.collection.capacity_scheduling.explanations import explain
from podium.addons.collection.capacity_scheduling.quota_state import QuotaState, sum_amounts
from podium.addons.collection.capacity_scheduling.quota_usage import QuotaUsage
from podium.addons.collection.capacity_scheduling.victims import (
    NAME,
    QuotaVictims,
    UnlimitedVictims,
    borrowed_pods,
)
from podium.kubernetes.kinds.elastic_quota import ElasticQuota
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.plugin import (
    SKIP,
    Action,
    Cycle,
    Handle,
    PodInfo,
    PreFilterExtensions,
    PreFilterPlugin,
    Registration,
    ReservePlugin,
    Resource,
    Status,
    unschedulable,
)
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.framework.points import Arguments, GroupTrial
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.default_preemption.dry_run import VictimRules
from podium.scheduler.plugins.default_preemption.pod_groups import Unit, select_victims, weaker_than

OVER_MAX: Final = "Pod {} is rejected in PreFilter because ElasticQuota {} is more than Max"
OVER_TOTAL: Final = (
    "Pod {} is rejected in PreFilter because total ElasticQuota used is more than min"
)


class CapacityScheduling(DefaultPreemption, PreFilterPlugin, PreFilterExtensions, ReservePlugin):
    name = NAME
    watched_kinds = (ELASTIC_QUOTAS,)

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._usage = QuotaUsage(handle.cluster.nodes, handle.cluster.usage)
        self._quotas: dict[str, Bounds] = {}
        self._quotas_version = -1

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE),
            Registration(ELASTIC_QUOTAS.event_resource, Action.ALL),
        )

    def pre_filter(self, cycle: Cycle) -> Status | None:
        state = self._state_of(cycle.pod)
        if state is None:
            return SKIP
        cycle.write(self.name, state)
        if state.is_over_max_with(state.in_quota):
            return unschedulable(OVER_MAX.format(cycle.pod.key, state.quota.namespace))
        if state.is_total_over_min_with(state.in_all):
            return unschedulable(OVER_TOTAL.format(cycle.pod.key))
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        cycle.read(self.name, QuotaState).imagine(pod, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        cycle.read(self.name, QuotaState).imagine(pod, -1)

    def victim_rules(self, cycle: Cycle) -> VictimRules:
        if cycle.pod.shape.namespace in self._current_quotas():
            return QuotaVictims(cycle.read(self.name, QuotaState))
        return UnlimitedVictims(frozenset(self._quotas))

    def count_wanted(self, potential: int) -> int:
        return potential

    def preemptable_for(self, pods: Sequence[PodInfo]) -> list[PodInfo]:
        state = self._state_of(pods[0])
        if state is None:
            weaker = super().preemptable_for(pods)
            return [pod for pod in weaker if pod.shape.namespace not in self._quotas]
        asked = sum_amounts(pod.shape.requests for pod in pods)
        if state.is_over_max_with(asked):
            return []
        if state.is_over_min_with(asked):
            namespace = state.quota.namespace
            weaker = super().preemptable_for(pods)
            return [pod for pod in weaker if pod.shape.namespace == namespace]
        return list(borrowed_pods(state, self._on_nodes()))

    def pod_group_post_filter(self, group: PodGroup, members: Sequence[PodInfo]) -> GroupTrial:
        may_leave = self._units_that_may_leave(group, members)
        return select_victims(self.handle.cluster, group, members, may_leave)

    def _units_that_may_leave(
        self, group: PodGroup, members: Sequence[PodInfo]
    ) -> Callable[[Unit], bool]:
        """The rules of `preemptable_for`, for units that leave as a whole."""
        state, is_weaker = self._state_of(members[0]), weaker_than(group)
        if state is None:
            return lambda unit: (
                is_weaker(unit)
                and not any(pod.shape.namespace in self._quotas for pod in unit.pods)
            )
        asked = sum_amounts(pod.shape.requests for pod in members)
        if state.is_over_max_with(asked):
            return lambda _: False
        if state.is_over_min_with(asked):
            namespace = state.quota.namespace
            return lambda unit: (
                is_weaker(unit) and all(pod.shape.namespace == namespace for pod in unit.pods)
            )
        borrowed = {pod.uid for pod in borrowed_pods(state, self._on_nodes())}
        return lambda unit: all(pod.uid in borrowed for pod in unit.pods)

    def _on_nodes(self) -> Iterator[PodInfo]:
        usage = self.handle.cluster.usage
        for row in self.handle.cluster.node_order().tolist():
            yield from usage.pods(row)

    def reserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing is left to set aside."""

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        state = self._state_of(pod)
        return explain(state, pod) if state is not None else None

    def _state_of(self, pod: PodInfo) -> QuotaState | None:
        """None for a pod of a namespace without a quota."""
        quotas = self._current_quotas()
        if pod.shape.namespace not in quotas:
            return None
        state = QuotaState(pod, quotas, self._usage.read())
        state.count_nominated((other for other, _ in self.handle.cluster.nominator), pod)
        return state

    def _current_quotas(self) -> Mapping[str, Bounds]:
        """By namespace; of several in one namespace the one that was seen first counts."""
        version = self.handle.cluster.catalog.version(ElasticQuota)
        if version != self._quotas_version:
            self._quotas_version = version
            self._quotas = {}
            for quota in self.handle.list(ElasticQuota):
                self._quotas.setdefault(quota.metadata.namespace, bounds_of(quota))
        return self._quotas
