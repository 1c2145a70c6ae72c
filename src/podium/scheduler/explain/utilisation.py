"""How full nodes are, before a simulation and after it.

Amounts are what the scheduler counts: requests against allocatable, cpu in milli, memory in bytes.
"""

from dataclasses import dataclass

from podium.kubernetes.rules.requests import CPU, MEMORY, PODS
from podium.scheduler.cluster.load import Load

_ALWAYS = (CPU, MEMORY, PODS)


@dataclass(frozen=True, slots=True)
class Use:
    """One resource of one node, or of all of them."""

    allocatable: int
    before: int
    after: int

    @property
    def fraction_before(self) -> float:
        return self.before / self.allocatable if self.allocatable else 0.0

    @property
    def fraction_after(self) -> float:
        return self.after / self.allocatable if self.allocatable else 0.0


class Utilisation:
    """Two loads of the same nodes side by side."""

    def __init__(self, before: Load, after: Load) -> None:
        self.before = before
        self.after = after
        self._column = {name: column for column, name in enumerate(after.nodes)}
        self.nodes = after.nodes
        self.resources = tuple(
            name
            for name in (*_ALWAYS, *sorted(set(after.resources) - set(_ALWAYS)))
            if name in _ALWAYS or self._in_use(name)
        )

    def of(self, node: str, resource: str) -> Use:
        column = self._column[node]
        row = self.after.resources.index(resource)
        return Use(
            int(self.after.allocatable[row, column]),
            self._amount_before(resource, column),
            int(self.after.requested[row, column]),
        )

    def total(self, resource: str) -> Use:
        row = self.after.resources.index(resource)
        before = 0
        if resource in self.before.resources:
            before = int(self.before.requested[self.before.resources.index(resource)].sum())
        return Use(
            int(self.after.allocatable[row].sum()), before, int(self.after.requested[row].sum())
        )

    def changed(self, node: str) -> bool:
        uses = (self.of(node, resource) for resource in self.resources)
        return any(use.before != use.after for use in uses)

    def fullness(self, node: str) -> float:
        """The fraction of the scarcest resource that is taken afterwards."""
        return max(self.of(node, resource).fraction_after for resource in self.resources)

    def _amount_before(self, resource: str, column: int) -> int:
        if resource not in self.before.resources:
            return 0
        return int(self.before.requested[self.before.resources.index(resource), column])

    def _in_use(self, resource: str) -> bool:
        use = self.total(resource)
        return bool(use.before or use.after)
