"""Nodes as scheduling sees them: labels, taints, allocatable resources, images and features."""

from typing import Literal

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ResourceList


class Taint(KubeStruct, frozen=True):
    UNREAD = frozenset({"timeAdded"})

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"podCIDR", "podCIDRs", "providerID", "configSource", "externalID"})

    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class ContainerImage(KubeStruct, frozen=True):
    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeCondition(KubeStruct, frozen=True):
    UNREAD = frozenset({"lastHeartbeatTime", "lastTransitionTime"})

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class NodeAddress(KubeStruct, frozen=True):
    type: str = ""
    address: str = ""


class NodeStatus(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "config",
            "daemonEndpoints",
            "features",
            "nodeInfo",
            "phase",
            "runtimeHandlers",
            "volumesAttached",
            "volumesInUse",
        }
    )

    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    images: tuple[ContainerImage, ...] | None = None
    conditions: tuple[NodeCondition, ...] | None = None
    declared_features: tuple[str, ...] | None = None
    addresses: tuple[NodeAddress, ...] | None = None


class Node(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["v1"] = "v1"
    kind: Literal["Node"] = "Node"
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
