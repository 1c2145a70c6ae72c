"""NodeDeclaredFeatures: features that a pod needs of its node."""

from podium.scheduler.plugins.node_declared_features.plugin import NodeDeclaredFeatures

__all__ = ["NodeDeclaredFeatures"]
