"""What the pods on nodes ask for, summed up by namespace.

The sums follow the table of the cluster: when pods have come to a node or left it, what that node
contributed is worked out anew. A pod counts from the moment it is assumed there.
"""

from collections.abc import Mapping

from podium.plugin import PodInfo
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage

Amounts = dict[str, int]

_COUNTED_PHASES = ("", "Pending", "Running")


def is_counted(pod: PodInfo) -> bool:
    """Whether a pod takes something of its namespace's quota."""
    return pod.pod.status.phase in _COUNTED_PHASES


def add_amounts(total: Amounts, amounts: Mapping[str, int], sign: int = 1) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + sign * amount


class QuotaUsage:
    def __init__(self, nodes: NodeTable, usage: Usage) -> None:
        self._nodes = nodes
        self._usage = usage
        self._generation = -1
        self._by_row: dict[int, dict[str, Amounts]] = {}
        self._by_namespace: dict[str, Amounts] = {}

    def read(self) -> Mapping[str, Mapping[str, int]]:
        """Namespace -> amounts, up to date; namespaces without pods may be missing."""
        changed = self._usage.log.since(self._generation)
        if changed is None:
            self._by_row.clear()
            self._by_namespace.clear()
            changed = list(range(self._nodes.size))
        for row in set(changed):
            self._count_again(row)
        self._generation = self._usage.log.generation
        return self._by_namespace

    def _count_again(self, row: int) -> None:
        for namespace, amounts in self._by_row.pop(row, {}).items():
            add_amounts(self._by_namespace[namespace], amounts, -1)
        found: dict[str, Amounts] = {}
        for pod in self._usage.pods(row):
            if is_counted(pod):
                add_amounts(found.setdefault(pod.shape.namespace, {}), pod.shape.requests)
        for namespace, amounts in found.items():
            add_amounts(self._by_namespace.setdefault(namespace, {}), amounts)
        if found:
            self._by_row[row] = found
