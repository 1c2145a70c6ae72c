"""NodeName: the one node that a pod names."""

from podium.scheduler.plugins.node_name.plugin import NodeName

__all__ = ["NodeName"]
