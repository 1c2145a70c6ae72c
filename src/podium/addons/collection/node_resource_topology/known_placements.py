"""Placements of containers, worked out once for a report and the pods that it speaks of."""

from collections.abc import Sequence

from podium.addons.collection.node_resource_topology.evictions import pinned_containers
from podium.addons.collection.node_resource_topology.numa_placement import (
    Placement,
    placement_of,
)
from podium.addons.collection.node_resource_topology.topologies import (
    NodeResourceTopology,
    zones_of,
)
from podium.plugin import PodInfo


class KnownPlacements:
    def __init__(self) -> None:
        self._known: dict[str, tuple[NodeResourceTopology, tuple[str, ...], Placement]] = {}

    def of(self, report: NodeResourceTopology, pods: Sequence[PodInfo]) -> Placement:
        node, uids = report.metadata.name, tuple(pod.uid for pod in pods)
        known = self._known.get(node)
        if known is not None and known[0] is report and known[1] == uids:
            return known[2]
        names = {name for zone in zones_of(report) for name in zone.available}
        found = placement_of(report, pinned_containers(pods, names))
        self._known[node] = report, uids, found
        return found
