"""NodeUnschedulable: nodes that are cordoned."""

from podium.scheduler.plugins.node_unschedulable.plugin import NodeUnschedulable

__all__ = ["NodeUnschedulable"]
