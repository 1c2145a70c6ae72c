"""What labels, conditions and the status of a node say, and which pods go with their node.

Pods that belong to their node and go with it: those of DaemonSets and of the kubelet.

The taints that conditions of a node become, as the node lifecycle controller gives them. NoSchedule
for everything that speaks against new pods, NoExecute besides where pods are to leave
(`pkg/controller/nodelifecycle/node_lifecycle_controller.go`). A node that never said whether it is
ready gets none.

What a node's status says before a kubelet has written all of it, and how it names images.

Zones of nodes: the part of a data centre, or of a cloud, that fails as one.

Labels of nodes that have other names by now. Kubernetes 1.36 still writes both: kubelets the old
ones of operating system and architecture beside the new, cloud providers those of zone, region and
machine type. So a selector or topology key of long ago works in a real cluster, and whoever makes
nodes up here gives them both as well.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

CONFIG_MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation by which a kubelet shows a pod that it runs from a file of its own."""


def is_daemon(pod: Pod) -> bool:
    """Whether a daemon set has made the pod for its node."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"


def is_bound_to_node(pod: Pod) -> bool:
    """Whether a kubelet runs the pod from a file of its own, so that nobody can evict it."""
    owner = pod.metadata.controller
    of_node = owner is not None and owner.kind == "Node"
    return of_node or CONFIG_MIRROR in (pod.metadata.annotations or {})


NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE: Final = "node.kubernetes.io/memory-pressure"
_BY_CONDITION: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): MEMORY_PRESSURE,
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
CONDITION_KEYS: Final = frozenset(_BY_CONDITION.values())
_EXECUTED: Final = frozenset({NOT_READY, UNREACHABLE})


def condition_taints(states: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """(key, effect) of each taint, and the condition that it stands for; `states` are statuses by
    the types of conditions."""
    found: dict[tuple[str, str], str] = {}
    for (name, status), key in _BY_CONDITION.items():
        if states.get(name) == status:
            found[key, "NoSchedule"] = name
            if key in _EXECUTED:
                found[key, "NoExecute"] = name
    return found


def default_allocatable(node: Node) -> Node:
    """The node with what it offers: all of its capacity, unless it says otherwise."""
    status = node.status
    if status.allocatable is not None or status.capacity is None:
        return node
    return replace(node, status=replace(status, allocatable=status.capacity))


ZONE: Final = "topology.kubernetes.io/zone"
_OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"


def zone_of(node: Node) -> str:
    """ "" for a node that is in none."""
    labels = node.metadata.labels or {}
    return labels.get(ZONE) or labels.get(_OLD_ZONE) or ""


TODAY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "beta.kubernetes.io/arch": "kubernetes.io/arch",
        "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/os": "kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    }
)
"""The name of today by the old one."""


def missing_old_labels(labels: Mapping[str, str], wanted: Iterable[str] = TODAY) -> dict[str, str]:
    """Old labels of a node that has them under their names of today only."""
    return {old: labels[TODAY[old]] for old in wanted if TODAY[old] in labels and old not in labels}


def missing_twins(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that a node has under one of their two names only, by the other name."""
    new = {TODAY[old]: labels[old] for old in TODAY if old in labels and TODAY[old] not in labels}
    return {**missing_old_labels(labels), **new}


def written_twins(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What to write after a change of a node's labels, so that both names say the same.

    The name of today decides where both were written; what was taken away is not brought back.
    """
    found: dict[str, str] = {}
    for old, new in TODAY.items():
        if new in after and after[new] != before.get(new):
            found[old] = after[new]
        elif old in after and after[old] != before.get(old):
            found[new] = after[old]
    return {name: text for name, text in found.items() if after.get(name) != text}


def canonical_image(name: str) -> str:
    """The name under which nodes list an image: `:latest` where no tag is given.

    upstream: neither a registry nor `library/` is filled in, and a digest counts as a tag.
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
