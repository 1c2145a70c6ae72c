"""A policy of one's own: the node with the least idle GPU left afterwards wins."""

from typing import Any

from podium.addons.gpu.packing.node_columns import NodeColumns, Pod
from podium.addons.gpu.packing.typical_pods import TypicalPods


def least_idle(nodes: NodeColumns, pod: Pod, typical: TypicalPods) -> Any:
    """Whole numbers, one for each node; larger is better."""
    return -(nodes.idle - pod.demand_milli)
