"""NodeVolumeLimits: how many volumes of a CSI driver a node takes."""

from podium.scheduler.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
