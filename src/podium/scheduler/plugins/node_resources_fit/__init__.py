"""NodeResourcesFit: room on nodes for what a pod requests."""

from podium.scheduler.plugins.node_resources_fit.plugin import NodeResourcesFit

__all__ = ["NodeResourcesFit"]
