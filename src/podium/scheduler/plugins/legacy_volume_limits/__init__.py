"""EBSLimits and its kin: how many disks of one cloud a node takes; of old configurations."""

from podium.scheduler.plugins.legacy_volume_limits.plugin import (
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)

__all__ = ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"]
