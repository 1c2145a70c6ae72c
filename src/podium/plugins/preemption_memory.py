"""Dry-run answers worth keeping: what a node would have to give up for pods of one kind.

An answer holds while nothing it was made from changed: the node and the pods on it, nominations
there, budgets. It is kept only where nodes do not influence each other, and only for pods without
volumes or claims, whose answers depend on more than the node.
"""

from collections import OrderedDict
from collections.abc import Iterable

from podium.api.workloads import PodDisruptionBudget
from podium.cluster.pod_info import PodInfo, PodShape
from podium.framework.cycle import Cycle
from podium.framework.profile import Profile
from podium.framework.status import Status
from podium.plugins.preemption_dry_run import Candidate

_MOST_KINDS = 64

_Stamp = tuple[int, int, tuple[PodInfo, ...]]
_Kind = tuple[PodShape, int]


class PreemptionMemory:
    def __init__(self) -> None:
        self._answers: OrderedDict[_Kind, dict[int, tuple[_Stamp, Candidate | Status]]] = (
            OrderedDict()
        )
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
        if not known:
            return {}
        found: dict[int, Candidate | Status] = {}
        for row in rows:
            held = known.get(row)
            if held is not None and held[0] == _stamp(cycle, row):
                found[row] = held[1]
        return found

    def learn(self, cycle: Cycle, profile: Profile, answers: dict[int, Candidate | Status]) -> None:
        if not self._usable(cycle, profile):
            return
        kind = self._kind(cycle)
        known = self._answers.setdefault(kind, {})
        self._answers.move_to_end(kind)
        if len(self._answers) > _MOST_KINDS:
            self._answers.popitem(last=False)
        for row, answer in answers.items():
            if isinstance(answer, Candidate) or answer.code.rejected:
                known[row] = (_stamp(cycle, row), answer)

    def _kind(self, cycle: Cycle) -> _Kind:
        return (cycle.pod.shape, cycle.pod.priority)

    def _usable(self, cycle: Cycle, profile: Profile) -> bool:
        spec = cycle.pod.pod.spec
        plain = not spec.volumes and not spec.resource_claims
        return plain and profile.rows_are_independent(cycle)


def _stamp(cycle: Cycle, row: int) -> _Stamp:
    """What an answer for a row was made from: pods there, the node, nominations."""
    usage, nodes = int(cycle.usage.changed[row]), int(cycle.nodes.changed[row])
    return (usage, nodes, cycle.crowd.get(row, ()))
