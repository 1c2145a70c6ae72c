"""NodeLabel: labels that every node has to have, or must not have; of old configurations."""

from podium.scheduler.plugins.node_label.plugin import NodeLabel

__all__ = ["NodeLabel"]
