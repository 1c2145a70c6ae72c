"""NodeAffinity: nodes that the pod's selectors and affinity name, and those it prefers."""

from podium.scheduler.plugins.node_affinity.plugin import NodeAffinity

__all__ = ["NodeAffinity"]
