"""Dry-run answers worth keeping: what a node would have to give up for pods of one kind.

An answer holds while nothing it was made from changed: the node and the pods on it, nominations
there, budgets. It is kept only where nodes do not influence each other, and only for pods without
volumes or claims, whose answers depend on more than the node. What changed is told by the logs of
the tables, so that nobody has to look at every answer to find the few that do not hold.
"""

from collections import OrderedDict
from collections.abc import Iterable

from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.cluster.pod_info import PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.default_preemption.dry_run import Candidate

_MAX_KINDS = 64

_Kind = tuple[PodShape, int]
_Moment = tuple[int, int, int]


class _Answers:
    """Answers for pods of one kind, as they were at a moment: of nodes, usage and nominations."""

    __slots__ = ("by_row", "membership", "moment")

    def __init__(self) -> None:
        self.by_row: dict[int, Candidate | Status] = {}
        self.moment: _Moment = (-1, -1, -1)
        self.membership = -1

    def catch_up(self, cluster: Cluster) -> None:
        """Forget the answers that something has happened to."""
        nodes, usage, nominator = cluster.nodes, cluster.usage, cluster.nominator
        moment = (nodes.log.generation, usage.log.generation, nominator.version)
        if moment == self.moment and nodes.membership == self.membership:
            return
        seen_nodes, seen_usage, seen_nominations = self.moment
        changed = nodes.log.since(seen_nodes)
        taken = usage.log.since(seen_usage)
        names = nominator.changed_since(seen_nominations)
        same_nodes = nodes.membership == self.membership
        self.moment, self.membership = moment, nodes.membership
        if changed is None or taken is None or names is None or not same_nodes:
            self.by_row.clear()
            return
        for row in {*changed, *taken, *map(nodes.row, names)}:
            self.by_row.pop(row, None)


class PreemptionMemory:
    def __init__(self) -> None:
        self._answers: OrderedDict[_Kind, _Answers] = OrderedDict()
        self._budgets = -1

    def recall(
        self, cycle: Cycle, profile: Profile, rows: Iterable[int]
    ) -> dict[int, Candidate | Status]:
        """Answers that still hold, for any of the rows."""
        if not self._usable(cycle, profile):
            return {}
        version = cycle.cluster.catalog.version(PodDisruptionBudget)
        if version != self._budgets:
            self._budgets = version
            self._answers.clear()
        known = self._answers.get(self._kind(cycle))
        if known is None:
            return {}
        known.catch_up(cycle.cluster)
        by_row, own = known.by_row, self._own_row(cycle)
        return {row: by_row[row] for row in rows if row in by_row and row != own}

    def learn(self, cycle: Cycle, profile: Profile, answers: dict[int, Candidate | Status]) -> None:
        if not self._usable(cycle, profile):
            return
        kind = self._kind(cycle)
        known = self._answers.setdefault(kind, _Answers())
        self._answers.move_to_end(kind)
        if len(self._answers) > _MAX_KINDS:
            self._answers.popitem(last=False)
        known.catch_up(cycle.cluster)
        own = self._own_row(cycle)
        for row, answer in answers.items():
            if row != own and (isinstance(answer, Candidate) or answer.code.rejected):
                known.by_row[row] = answer

    def _kind(self, cycle: Cycle) -> _Kind:
        return (cycle.pod.shape, cycle.pod.priority)

    def _own_row(self, cycle: Cycle) -> int:
        """The row that the pod itself is nominated to: there it meets others than its like do."""
        return cycle.nodes.row(cycle.cluster.nominator.node_of(cycle.pod.uid))

    def _usable(self, cycle: Cycle, profile: Profile) -> bool:
        return (
            cycle.pod.shape.is_plain
            and cycle.usage is cycle.cluster.usage
            and profile.rows_are_independent(cycle)
        )
