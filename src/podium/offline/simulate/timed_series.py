"""A cluster over time: samples at equal distances, never more than a fixed number of them.

The first distance is a guess. When there are too many samples, every other one goes and the
distance doubles, so that a run whose end nobody knows costs no more memory than a short one.
"""

from dataclasses import dataclass
from typing import Final

from podium.kubernetes.kinds.devices import ResourceSlice
from podium.kubernetes.rules.requests import PODS
from podium.scheduler.cluster.load import device_load
from podium.scheduler.cluster.state import Cluster

MAX_SAMPLES: Final = 512


@dataclass(frozen=True, slots=True)
class Sample:
    """`utilisation` is the part of what all nodes have that pods ask for, by resource; resources
    that no node has are not in it."""

    at_s: float
    nodes: int
    pending: int
    running: int
    utilisation: dict[str, float]


class TimedSeries:
    def __init__(self, duration_s: float | None) -> None:
        """`duration_s` is how long the run will take, if somebody knows."""
        self.every_s = duration_s / (MAX_SAMPLES - 1) if duration_s else 1.0
        self.samples: list[Sample] = []
        self.next_s = 0.0
        """When the next sample is due."""

    def take(self, cluster: Cluster, pending: int, running: int) -> None:
        """The sample that is due."""
        usage = measure_utilisation(cluster)
        nodes = cluster.nodes.present_count
        self.samples.append(Sample(self.next_s, nodes, pending, running, usage))
        if len(self.samples) > MAX_SAMPLES:
            del self.samples[1::2]
            self.every_s *= 2
        self.next_s = round(len(self.samples) * self.every_s, 6)


def measure_utilisation(cluster: Cluster) -> dict[str, float]:
    """The part of what all nodes have that pods ask for, by resource."""
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    there = nodes.present[: nodes.size]
    has = nodes.allocatable[:, : nodes.size] @ there
    uses = usage.requested[:, : nodes.size] @ there
    found = {name: (int(has[at]), int(uses[at])) for at, name in enumerate(nodes.resources)}
    found[PODS] = (
        int(nodes.allowed_pods[: nodes.size] @ there),
        int(usage.pod_count[: nodes.size] @ there),
    )
    if next(cluster.catalog.all(ResourceSlice), None) is not None:
        names = tuple(nodes.names[row] for row in range(nodes.size) if nodes.present[row])
        devices, devices_there, devices_used = device_load(cluster, names)
        for at, name in enumerate(devices):
            found[name] = (int(devices_there[at].sum()), int(devices_used[at].sum()))
    return {name: round(used / total, 6) for name, (total, used) in found.items() if total}
