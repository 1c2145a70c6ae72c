"""Disruption budgets while pods come and go: their controller, as an observer of the engine.

Preemption reads what a budget's status allows, so the status has to follow the pods. Only pods that
something has happened to are looked at again. Budgets that a cluster has counted keep their count
(`disruptions.py`).
"""

from podium.kubernetes.controllers.objects import selector_or_nothing
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate.disruptions import recount_budget
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.events import ClusterEvent, EventObject

Key = tuple[str, str]


class TimedBudgets(Observer):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._touched: dict[str, None] = {}
        self._members: dict[Key, dict[str, Pod]] = {}
        self._is_listening = False

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:  # noqa: ARG002
        if isinstance(obj, Pod):
            self._touched[object_key(obj.metadata)] = None

    def forget(self, budget: PodDisruptionBudget) -> None:
        """A budget has come or changed: its pods are to be counted from the beginning."""
        self._members.pop(budget.metadata.key, None)

    def recount(self) -> None:
        """Have budgets say what they allow now."""
        catalog = self._engine.cluster.catalog
        if not self._is_listening:
            if not catalog.version(PodDisruptionBudget):
                return
            self._is_listening = True
            self._engine.observers.add(self)
            self._touched = dict.fromkeys(self._engine.state.pods)
        budgets = list(catalog.all(PodDisruptionBudget))
        if any(budget.metadata.key not in self._members for budget in budgets):
            self._touched = dict.fromkeys(self._engine.state.pods)
        if not self._touched:
            return
        touched, self._touched = self._touched, {}
        for budget in budgets:
            if self._follow(budget, touched):
                members = self._members[budget.metadata.key].values()
                counted = recount_budget(budget, members)
                if counted != budget:
                    self._engine.intake.object_put(counted)

    def _follow(self, budget: PodDisruptionBudget, touched: dict[str, None]) -> bool:
        """Note who is covered now; whether that may have changed."""
        is_new = budget.metadata.key not in self._members
        members = self._members.setdefault(budget.metadata.key, {})
        selector = selector_or_nothing(budget.spec.selector)
        namespace, pods = budget.metadata.namespace, self._engine.state.pods
        changed = is_new
        for key in touched:
            pod = pods.get(key)
            if pod is None:
                changed |= members.pop(key, None) is not None
            elif pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels):
                members[key] = pod
                changed = True
        return changed
