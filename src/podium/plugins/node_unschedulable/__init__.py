"""NodeUnschedulable: nodes that are cordoned."""

from podium.plugins.node_unschedulable.plugin import NodeUnschedulable

__all__ = ["NodeUnschedulable"]
