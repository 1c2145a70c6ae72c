"""Whether a cluster has room for a group, over all nodes at once.

Two questions, and neither looks at taints or affinity. `resource_gap` is the one of `minResources`:
do amounts add up over all nodes? `has_room` is stricter: could so many members be on nodes side by
side? It asks for the least that any of them wants, so what it refuses cannot fit, whoever of them
is tried.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from podium.addons.collection.coscheduling.gangs import Gang
from podium.kubernetes.rules.quantity import milli_value, value
from podium.kubernetes.rules.quantity_spelling import canonical
from podium.plugin import Cluster, Ints, PodInfo

CPU = "cpu"
PODS = "pods"
_MEBI = 20


def resource_gap(cluster: Cluster, gang: Gang, placed: Iterable[PodInfo]) -> dict[str, int]:
    """What nodes lack of the group's minResources, its own pods not counted; nothing if they have
    it. cpu is in milli-cores.

    upstream: nodes are added up in order, and what has been enough once stays so, though a later
    node may have less than nothing.
    """
    needed = {
        name: milli_value(amount) if name == CPU else value(amount)
        for name, amount in (gang.min_resources or {}).items()
    }
    needed[PODS] = gang.min_member
    own = list(placed)
    rows = cluster.node_order()
    gap: dict[str, int] = {}
    for name, amount in needed.items():
        sums = np.cumsum(_free(cluster, name, own)[rows])
        if amount > 0 and (not len(sums) or int(sums.max()) < amount):
            gap[name] = amount - (int(sums[-1]) if len(sums) else 0)
    return gap


def written_gap(gap: dict[str, int]) -> str:
    """`map[cpu:2 memory:1Gi]`."""
    return f"map[{' '.join(f'{name}:{_written(name, gap[name])}' for name in sorted(gap))}]"


def _written(name: str, amount: int) -> str:
    if name == CPU:
        return canonical(f"{amount}m")
    in_mebi, rest = divmod(amount, 1 << _MEBI)
    return canonical(f"{in_mebi}Mi") if in_mebi and not rest else str(amount)


def has_room(
    cluster: Cluster,
    members: Sequence[PodInfo],
    number: int,
    counts: Callable[[str], bool],
    without: Sequence[PodInfo] = (),
) -> bool:
    """Whether so many of these members could have a node at the same time, if the pods `without`
    were gone. `counts` says which resources are looked at when nodes are filtered."""
    rows = cluster.node_order()
    copies = np.clip(_free(cluster, PODS, without)[rows], 0, number)
    for name, amount in _least_wanted(members).items():
        if amount > 0 and counts(name):
            free = np.maximum(_free(cluster, name, without)[rows], 0)
            np.minimum(copies, free // amount, out=copies)
    return int(copies.sum()) >= number


def _least_wanted(members: Sequence[PodInfo]) -> dict[str, int]:
    first, *others = (info.shape.requests for info in members)
    least = dict(first)
    for requests in others:
        least = {name: min(amount, requests.get(name, 0)) for name, amount in least.items()}
    return least


def _free(cluster: Cluster, name: str, without: Iterable[PodInfo]) -> Ints:
    """What is free of a resource on each row of the table, as if some pods were not there."""
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    if name == PODS:
        free: npt.NDArray[np.int64] = nodes.allowed_pods - usage.pod_count
    else:
        resource = nodes.resources.find(name)
        if resource < 0 or resource >= len(nodes.allocatable):
            return np.zeros(nodes.capacity, dtype=np.int64)
        free = nodes.allocatable[resource] - usage.requested_of(resource)
    for info in without:
        held = cluster.placements.get(info.uid)
        if held is not None:
            free[held.row] += 1 if name == PODS else held.info.shape.accounted.get(name, 0)
    return free
