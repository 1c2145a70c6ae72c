"""Which nodes take part when a spread constraint counts.

A constraint may leave out nodes that the pod's own node selector and affinity exclude
(`nodeAffinityPolicy`, honoured unless told otherwise) and nodes with taints that it does not
tolerate (`nodeTaintsPolicy`, ignored unless told otherwise). A cordoned node is left out through
its taint only. Each policy is worked out once per pod, however many constraints ask.
"""

from functools import cached_property

from podium.kubernetes.rules.tolerations import HARD_EFFECTS
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.node_matching import required_mask, untolerated_mask
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.pod_topology_spread.constraints import SpreadConstraint
from podium.scheduler.plugins.topology.domains import Topology


class NodeInclusion:
    """The policies over all rows of the table, for the pod of one cycle."""

    def __init__(self, cycle: Cycle, *, comparison: bool) -> None:
        self._cycle = cycle
        self._comparison = comparison

    def mask(self, constraint: SpreadConstraint) -> Mask | None:
        """Rows that meet the constraint's policies; None for all of them."""
        affinity = self._affinity if constraint.honors_affinity else None
        taints = self._taints if constraint.honors_taints else None
        return both(affinity, taints)

    @cached_property
    def _affinity(self) -> Mask | None:
        nodes = self._cycle.nodes
        return required_mask(nodes, self._cycle.pod.shape.node_affinity, nodes.all_rows())

    @cached_property
    def _taints(self) -> Mask | None:
        nodes = self._cycle.nodes
        tolerations = self._cycle.pod.pod.spec.tolerations
        untolerated = untolerated_mask(
            nodes, tolerations, HARD_EFFECTS, nodes.all_rows(), comparison=self._comparison
        )
        return None if untolerated is None else ~untolerated


def rows_with_all_keys(topologies: list[Topology]) -> Mask | None:
    """Rows that carry every topology key; None for all of them."""
    mask: Mask | None = None
    for topology in topologies:
        if not topology.complete:
            mask = both(mask, topology.slots > 0)
    return mask


def both(one: Mask | None, other: Mask | None) -> Mask | None:
    """The rows of both masks, where None stands for all rows."""
    if one is None:
        return other
    return one if other is None else one & other
