"""Disruption budgets while pods are evicted and come back.

What a budget allows at the beginning is its status. From then on every pod that it covers and that
has no node is charged to it; one that finds a node again is given back. The rules of who may go are
those of the eviction API (`pkg/registry/core/pod/storage/eviction.go`).
"""

from collections.abc import Callable

from msgspec.structs import replace

from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate.disruptions import recount_budget
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.plugins.default_preemption.dry_run import covers


def recount_budgets(engine: Engine) -> None:
    """Have budgets of manifests count the pods that have been placed since they were read."""
    catalog = engine.cluster.catalog
    for budget in list(catalog.all(PodDisruptionBudget)):
        counted = recount_budget(budget, engine.state.pods.values())
        if counted != budget:
            engine.intake.object_put(counted)


class DisruptionAccounts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        catalog = engine.cluster.catalog
        self._budgets = {budget.metadata.key: budget for budget in catalog.all(PodDisruptionBudget)}
        self._missing: dict[tuple[str, str], dict[str, None]] = {key: {} for key in self._budgets}

    def refusal(self, info: PodInfo) -> str:
        """Why a pod may not be evicted now, "" if it may."""
        if not self._budgets:
            return ""
        covering = [budget for budget in self._budgets.values() if covers(budget, info)]
        if len(covering) > 1:
            # upstream: the eviction API does not evict what two budgets cover
            names = ", ".join(sorted(budget.metadata.name for budget in covering))
            return f"more than one PodDisruptionBudget covers it: {names}"
        for budget in covering:
            if self._allowed(budget) <= 0:
                return f"PodDisruptionBudget {budget.metadata.name} lets no more pods go"
        return ""

    def charge(self, info: PodInfo) -> None:
        """A pod has lost its node."""
        for key, budget in self._budgets.items():
            if covers(budget, info):
                self._missing[key][info.key] = None
                self._tell(budget)

    def give_back(self, place_of: Callable[[str], str]) -> None:
        """Pods that have a node again, as a function of their keys says."""
        for key, budget in self._budgets.items():
            missing = self._missing[key]
            found = [each for each in missing if place_of(each)]
            for each in found:
                del missing[each]
            if found:
                self._tell(budget)

    def _allowed(self, budget: PodDisruptionBudget) -> int:
        return budget.status.disruptions_allowed - len(self._missing[budget.metadata.key])

    def _tell(self, budget: PodDisruptionBudget) -> None:
        """The status as its controller would write it, which preemption reads."""
        missing = len(self._missing[budget.metadata.key])
        status = replace(
            budget.status,
            disruptions_allowed=max(0, self._allowed(budget)),
            current_healthy=max(0, (budget.status.current_healthy or 0) - missing),
        )
        self._engine.intake.object_put(replace(budget, status=status))
