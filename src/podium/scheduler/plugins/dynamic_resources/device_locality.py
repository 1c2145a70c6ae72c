"""Where devices are: `locality` of `scoringStrategy`.

A GPU and a network card on one PCIe root exchange data without passing through the processor, eight
GPUs of one NVLink domain work as one, and the pods of a training job talk to each other all the
time. Drivers publish the place of a device as attributes, administrators that of a node as labels.
Each entry of `locality` is one of the two, with a weight:

    attribute  the devices of a pod lie together: those with the same value are taken, and a node
               scores by how many pairs of its devices would have it in common
    nodeLabel  the pods of a workload lie near each other: a node scores by how many of those that
               have devices already run on nodes with the same value

With two GPUs and two network cards of which three share a NUMA node, three of six pairs lie
together: 50 points. Nothing here decides whether claims can be served; a claim that must have its
devices together says so (`matchAttribute`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from math import fsum

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import DeviceAttribute
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.config.plugin_args import DeviceLocality
from podium.scheduler.plugins.dynamic_resources.constraints import values_of
from podium.scheduler.plugins.dynamic_resources.inventory import Content, DeviceEntry

MAX_POINTS = 100
_NOWHERE: Hashable = None

Usable = Callable[[DeviceEntry], bool]
Rank = Callable[[DeviceEntry], float]


class DevicePlaces:
    """The attributes by which the devices of a pod are to lie together."""

    def __init__(self, locality: Iterable[DeviceLocality]) -> None:
        self._weights = [(each.attribute, each.weight) for each in locality if each.attribute]
        self._weights.sort(key=lambda pair: -pair[1])
        self.weight = sum(weight for _, weight in self._weights)

    def order(
        self,
        devices: Sequence[DeviceEntry],
        count: int,
        near: Sequence[DeviceEntry],
        usable: Usable,
        rank: Rank,
    ) -> list[DeviceEntry]:
        """The usable devices of a node in the order in which a request for some of them is to try
        them: first those beside the ones that other requests of the pod have got (`near`), then
        those of the smallest group that is large enough. `rank` decides among equals."""
        left = [entry for entry in devices if usable(entry)]
        places = {id(entry): self._places(entry) for entry in (*left, *near)}
        sizes = [Counter(places[id(entry)][at] for entry in left) for at in range(self._depth)]
        taken = [Counter(places[id(entry)][at] for entry in near) for at in range(self._depth)]
        ranks = {id(entry): rank(entry) for entry in left}
        best: dict[Hashable, float] = {}
        numbers: dict[Hashable, int] = {}
        for entry in left:
            group = places[id(entry)]
            best[group] = min(best.get(group, ranks[id(entry)]), ranks[id(entry)])
            numbers.setdefault(group, len(numbers))

        def key(entry: DeviceEntry) -> tuple[float, ...]:
            group = places[id(entry)]
            beside = together = slack = 0.0
            for at, (_, weight) in enumerate(self._weights):
                if group[at] is _NOWHERE:
                    continue
                size = sizes[at][group[at]]
                beside += weight * taken[at][group[at]]
                together += weight * min(size, count)
                slack += weight * max(0, size - count)
            return -beside, -together, slack, best[group], numbers[group], ranks[id(entry)]

        return sorted(left, key=key)

    def points(self, devices: Sequence[DeviceEntry]) -> int:
        """How many pairs of a pod's devices lie together: 0 to 100."""
        pairs = len(devices) * (len(devices) - 1) // 2
        if not pairs or not self.weight:
            return MAX_POINTS
        places = [self._places(entry) for entry in devices]
        shares = []
        for at, (_, weight) in enumerate(self._weights):
            same = sum(
                one[at] is not _NOWHERE and one[at] == other[at]
                for one, other in combinations(places, 2)
            )
            shares.append(weight * same / pairs)
        return round(MAX_POINTS * fsum(shares) / self.weight)

    @property
    def _depth(self) -> int:
        return len(self._weights)

    def _places(self, entry: DeviceEntry) -> tuple[Hashable, ...]:
        """The value of each attribute, `_NOWHERE` where the device has none."""
        return tuple(_place(entry.content, name) for name, _ in self._weights)


class NodePlaces:
    """The labels by which the pods of a workload are to lie near each other."""

    def __init__(self, locality: Iterable[DeviceLocality], nodes: NodeTable) -> None:
        self._weights = [(each.node_label, each.weight) for each in locality if each.node_label]
        self._nodes = nodes
        self.weight = sum(weight for _, weight in self._weights)

    def points(self, workload: Ints, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """How many of a workload's pods, of which each is on a row, a node has near: 0 to 100, by
        all labels together. All nodes are as good while there are none."""
        if not len(workload) or not self.weight:
            return np.full(len(rows), float(MAX_POINTS))
        total = np.zeros(len(rows))
        for key, weight in self._weights:
            column = self._nodes.labels.column(key)
            placed = column.codes[workload]
            counts = np.bincount(placed[placed >= 0], minlength=len(column.values) + 1)
            here = column.codes[rows]
            total += weight * np.where(here >= 0, counts[here], 0)
        points: npt.NDArray[np.float64] = MAX_POINTS * total / (self.weight * len(workload))
        return points


def _place(content: Content, name: str) -> Hashable:
    """The value of an attribute; a name without a domain is each driver's own."""
    found = _find(content, name)
    values = values_of(found, lists=False) if found is not None else ()
    return next(iter(values), _NOWHERE)


def _find(content: Content, name: str) -> DeviceAttribute | None:
    return content.attribute(name) if "/" in name else content.own_attribute(name)
