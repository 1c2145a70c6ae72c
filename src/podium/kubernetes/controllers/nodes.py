"""Nodes, and the leases by which they show that they are alive."""

from podium.kubernetes.kinds.meta import Condition, KubeObject, KubeStruct
from podium.kubernetes.kinds.node import NodeAddress, NodeSpec


class NodeStatus(KubeStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[NodeAddress, ...] | None = None
    capacity: dict[str, str] | None = None
    allocatable: dict[str, str] | None = None


class Node(KubeObject, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def address(self) -> str:
        """Where it says that it can be reached inside the cluster."""
        for entry in self.status.addresses or ():
            if entry.type == "InternalIP":
                return entry.address
        return ""


class LeaseSpec(KubeStruct, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class Lease(KubeObject, frozen=True):
    spec: LeaseSpec = LeaseSpec()
