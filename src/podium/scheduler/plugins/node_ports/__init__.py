"""NodePorts: host ports that pods on a node have taken."""

from podium.scheduler.plugins.node_ports.plugin import NodePorts

__all__ = ["NodePorts"]
