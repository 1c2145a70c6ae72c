"""NodeName: the one node that a pod names."""

from podium.plugins.node_name.plugin import NodeName

__all__ = ["NodeName"]
