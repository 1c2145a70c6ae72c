"""Nodes, and the leases by which they show that they are alive."""

from podium.api.node import Taint
from podium.population.objects.meta import Condition, Meta, Part, Thing


class NodeSpec(Part, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class Address(Part, frozen=True):
    type: str = ""
    address: str = ""


class NodeStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[Address, ...] | None = None


class Node(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def address(self) -> str:
        """Where it says that it can be reached inside the cluster."""
        for entry in self.status.addresses or ():
            if entry.type == "InternalIP":
                return entry.address
        return ""


class LeaseSpec(Part, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class Lease(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: LeaseSpec = LeaseSpec()
