"""VolumeBinding: finding, taking or ordering the volumes a pod's claims ask for."""

from podium.scheduler.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
