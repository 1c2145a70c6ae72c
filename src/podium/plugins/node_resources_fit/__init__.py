"""NodeResourcesFit: room on nodes for what a pod requests."""

from podium.plugins.node_resources_fit.plugin import NodeResourcesFit

__all__ = ["NodeResourcesFit"]
