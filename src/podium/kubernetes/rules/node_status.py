"""What a node's status says before a kubelet has written all of it."""

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node


def default_allocatable(node: Node) -> Node:
    """The node with what it offers: all of its capacity, unless it says otherwise."""
    status = node.status
    if status.allocatable is not None or status.capacity is None:
        return node
    return replace(node, status=replace(status, allocatable=status.capacity))
