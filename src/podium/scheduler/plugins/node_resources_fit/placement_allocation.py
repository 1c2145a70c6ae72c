"""How full a pod group would leave a placement: MostAllocated over all its nodes at once.

Amounts are added up over the placement's nodes and the proposed members, and the formula of
`resources/allocation.py` is applied once to the totals, whatever strategy nodes are scored by. A
scalar resource that no member asks for is left out, and so is a node without any of a resource,
its usage included (`pkg/scheduler/framework/plugins/noderesources/resource_allocation.go`).

Worked example: nodes of 4 cpu and 8Gi with 1 cpu and 1Gi taken, and of 8 cpu and
16Gi, empty; two members of 2 cpu and 4Gi. 5000 of 12000 milli-cpu are 41 points, 9 of 24Gi are 37,
which makes 39.
"""

from collections.abc import Iterable, Sequence

from podium.kubernetes.rules.requests import is_scalar
from podium.scheduler.cluster.nodes import CPU, MEMORY
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import ResourceSpec
from podium.scheduler.framework.cycle import PlacementRows
from podium.scheduler.framework.scoring import MAX_SCORE


def placement_score(
    cluster: Cluster,
    resources: Sequence[ResourceSpec],
    rows: PlacementRows,
    members: Iterable[PodInfo],
) -> int:
    """0..100; members are not on the nodes at that time."""
    requests = [member.shape.scoring_requests for member in members]
    points = weights = 0
    for spec in resources:
        wanted = sum(request.get(spec.name, 0) for request in requests)
        if wanted == 0 and is_scalar(spec.name):
            continue
        allocatable, used = _totals(cluster, spec.name, rows)
        if allocatable:
            points += spec.weight * (min(used + wanted, allocatable) * MAX_SCORE // allocatable)
            weights += spec.weight
    return points // weights if weights else 0


def _totals(cluster: Cluster, resource: str, rows: PlacementRows) -> tuple[int, int]:
    """(allocatable, used) over the rows that have some of a resource."""
    index = cluster.nodes.resources.find(resource)
    if index < 0:
        return 0, 0
    allocatable = cluster.nodes.allocatable[index][rows]
    usage = cluster.usage
    column = usage.nonzero[index] if index in (CPU, MEMORY) else usage.requested_of(index)
    return int(allocatable.sum()), int(column[rows][allocatable != 0].sum())
