"""NodeAffinity: nodes that the pod's selectors and affinity name, and those it prefers."""

from podium.plugins.node_affinity.plugin import NodeAffinity

__all__ = ["NodeAffinity"]
