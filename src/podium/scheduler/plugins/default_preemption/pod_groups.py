"""Which pods would have to leave so that a whole pod group fits.

The domain is the cluster: all weaker pods are taken off their nodes, and if the group fits then,
they are given back one unit at a time, those that a disruption budget protects first and the most
important before the others, for as long as the group still fits. A unit is a pod, or all pods of a
group that is only disrupted as a whole (`pkg/scheduler/framework/preemption/podgrouppreemption.go`
and `types.go`). Whether the group fits is the caller's to say; the cluster is as it was afterwards.
"""

from collections.abc import Callable, Sequence

from podium.kubernetes.kinds.pod_groups import PER_GROUP, PodGroup
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.cluster.catalog import PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.trials import RemovedPods
from podium.scheduler.framework.points import GroupTrial
from podium.scheduler.framework.status import unresolvable, unschedulable
from podium.scheduler.plugins.default_preemption.dry_run import covers

NEVER = unschedulable("not eligible due to preemptionPolicy=Never.")
NO_VICTIMS = unresolvable("No preemption victims found for incoming preemptor")


class Unit:
    """Pods that leave together, or not at all."""

    __slots__ = ("pods", "priority")

    def __init__(self, pod: PodInfo, priority: int) -> None:
        self.pods = [pod]
        self.priority = priority

    @property
    def importance(self) -> tuple[int, int, int, float]:
        """Sort key: the most important unit first.

        upstream: every pod that belongs to a group counts as one here, alone or not, and a group
        started when the first of its pods did that was come across.
        """
        first = self.pods[0]
        size = len(self.pods) if first.pod.spec.scheduling_group is not None else 0
        return (-self.priority, 0 if size else 1, -size, first.start_time)


def select_victims(
    cluster: Cluster,
    group: PodGroup,
    members: Sequence[PodInfo],
    may_leave: Callable[[Unit], bool] | None = None,
) -> GroupTrial:
    """Pods to evict, most important first, or why that would not help. `may_leave` says which units
    may, if not all that are weaker."""
    if any(member.pod.spec.preemption_policy == "Never" for member in members):
        return NEVER
    if may_leave is None:
        may_leave = weaker_than(group)
    weaker = [unit for unit in units_on_nodes(cluster) if may_leave(unit)]
    if not weaker:
        return NO_VICTIMS
    with RemovedPods(cluster) as removed:
        for unit in weaker:
            _take_off(removed, unit)
        failure = yield
        if failure is not None:
            return failure
        weaker.sort(key=lambda unit: unit.importance)
        budgets = list(cluster.catalog.all(PodDisruptionBudget))
        victims: list[Unit] = []
        for unit in (unit for part in split_by_budget(weaker, budgets) for unit in part):
            _give_back(removed, unit)
            if (yield) is not None:  # the group does not fit beside it
                _take_off(removed, unit)
                victims.append(unit)
    victims.sort(key=lambda unit: unit.importance)
    return [pod for unit in victims for pod in unit.pods]


def weaker_than(group: PodGroup) -> Callable[[Unit], bool]:
    return lambda unit: unit.priority < group.priority


def units_on_nodes(cluster: Cluster) -> list[Unit]:
    """All pods on nodes as units, in snapshot order."""
    units: dict[str, Unit] = {}
    for row in cluster.node_order().tolist():
        for pod in cluster.usage.pods(row):
            whole = _disrupted_as_a_whole(cluster, pod)
            if whole is None:
                units[pod.uid] = Unit(pod, pod.priority)
            elif whole.uid in units:
                units[whole.uid].pods.append(pod)
            else:
                units[whole.uid] = Unit(pod, whole.priority)
    return list(units.values())


def split_by_budget(
    units: Sequence[Unit], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[Unit], list[Unit]]:
    """(units whose leaving would break a budget, the others), order kept.

    upstream: what a unit would charge after its first broken budget is not charged at all.
    """
    left = [budget.status.disruptions_allowed for budget in budgets]

    def breaks(pod: PodInfo) -> bool:
        for index, budget in enumerate(budgets):
            if covers(budget, pod):
                left[index] -= 1
                if left[index] < 0:
                    return True
        return False

    violating: list[Unit] = []
    others: list[Unit] = []
    for unit in units:
        (violating if any(map(breaks, unit.pods)) else others).append(unit)
    return violating, others


def _give_back(removed: RemovedPods, unit: Unit) -> None:
    for pod in unit.pods:
        removed.put_back(pod)


def _take_off(removed: RemovedPods, unit: Unit) -> None:
    for pod in unit.pods:
        removed.take_off(pod)


def _disrupted_as_a_whole(cluster: Cluster, pod: PodInfo) -> PodGroup | None:
    key = group_of(pod.pod)
    if key is None:
        return None
    try:
        group = pod_group(cluster.catalog, key)
    except PodGroupMissing:
        return None
    return group if group.spec.disruption_mode == PER_GROUP else None
