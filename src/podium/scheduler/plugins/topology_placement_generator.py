"""TopologyPlacementGenerator: try a pod group on one topology domain at a time.

A group that asks for a topology (all members on nodes with the same value of a label) is tried on
the nodes of each value; once members have nodes, only on the domain they are in
(`pkg/scheduler/framework/plugins/topologyaware/topology_placement.go`). Upstream's order of domains
is arbitrary; here they come by name.
"""

from collections.abc import Sequence

import numpy as np

from podium.scheduler.cluster.catalog import pod_group
from podium.scheduler.framework.cycle import Placement, PodGroupCycle
from podium.scheduler.framework.points import PlacementGeneratePlugin
from podium.scheduler.framework.status import Status

NO_DOMAIN = "cannot determine domain for already scheduled pods: {}"


class NoDomain(Exception):
    """The members that have nodes are in no common domain."""


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    name = "TopologyPlacementGenerator"

    def generate_placements(
        self, group: PodGroupCycle, parent: Placement
    ) -> Sequence[Placement] | Status:
        key = pod_group(group.cluster.catalog, group.key).topology_key
        if key is None:
            return [parent]
        required = _domain_in_use(group, key)
        column = group.cluster.nodes.labels.column(key)
        codes = column.codes[parent.rows]
        domains = {column.values[code]: code for code in np.unique(codes[codes >= 0]).tolist()}
        return [
            Placement(name, parent.rows[codes == domains[name]])
            for name in sorted(domains)
            if required is None or name == required
        ]


def _domain_in_use(group: PodGroupCycle, key: str) -> str | None:
    """The domain of members that have nodes, None if none has."""
    nodes = group.cluster.nodes
    domain: str | None = None
    for member, node_name in group.cluster.pod_groups.get(group.key).scheduled_pods():
        if not nodes.is_present(node_name):
            problem = f'nodeinfo not found for node name "{node_name}"'
            raise NoDomain(NO_DOMAIN.format(f"getting node for pod {member.key}: {problem}"))
        found = nodes.labels.labels_of(nodes.row(node_name)).get(key)
        if found is None:
            raise NoDomain(NO_DOMAIN.format(f"no topology domain found for pod {member.key}"))
        # upstream: an empty value is not noticed as a difference by the next pod
        if domain and domain != found:
            text = f"more than 1 domain found for pod group: {domain}, {found}"
            raise NoDomain(NO_DOMAIN.format(text))
        domain = found
    return domain
