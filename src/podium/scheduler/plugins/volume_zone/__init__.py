"""VolumeZone: zones and regions of bound volumes."""

from podium.scheduler.plugins.volume_zone.plugin import VolumeZone

__all__ = ["VolumeZone"]
