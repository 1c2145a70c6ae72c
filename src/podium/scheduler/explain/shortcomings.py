"""What exactly stands between a pod and a node.

Filters answer with upstream's reasons, which say what kind of thing is wrong ("Insufficient cpu").
For a single node one can say more: how much is missing, which label. This is for
people only; nothing decides by it.
"""

from dataclasses import dataclass

from podium.kubernetes.rules.requests import PODS
from podium.scheduler.cluster.load import Load
from podium.scheduler.cluster.pod_info import PodInfo


@dataclass(frozen=True, slots=True)
class Room:
    """One resource on one node: what the pod asks for and what is there."""

    resource: str
    asked: int
    free: int
    allocatable: int

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.free)


def room_for(pod: PodInfo, node: str, load: Load) -> list[Room]:
    """Every resource that a pod asks for, as things stand on a node."""
    column = load.nodes.index(node)
    asked = {**pod.shape.requests, PODS: 1}
    found = []
    for resource, amount in asked.items():
        allocatable = requested = 0
        if resource in load.resources:
            row = load.resources.index(resource)
            allocatable = int(load.allocatable[row, column])
            requested = int(load.requested[row, column])
        found.append(Room(resource, amount, allocatable - requested, allocatable))
    return found
