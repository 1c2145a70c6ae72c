"""Disks of one cloud: how many a node takes."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.legacy_volume_limits.plugin import LegacyVolumeLimits


def find_disk_limits(plugin: LegacyVolumeLimits, view: AttemptView, among: Mask) -> list[Finding]:
    """EBSLimits and its like: so many disks of a kind, whatever the driver says."""
    limits = {
        position: plugin.limit(view.examination.objects[view.names[position]])
        for position in view.positions(among)
    }
    most, kind = max(limits.values()), plugin.disk.name
    clause = f"{view.say(among, 'has', 'have')} no place for another {kind} disk"
    clause += f"; the largest limit is {most}"
    return [
        Finding(
            "volume-limit",
            kind,
            among,
            clause,
            f"no place for another {kind} disk",
            lambda position: f"at most {limits[position]} {kind} disks, and they are there",
            facts={"kind": kind, "limit": most},
        )
    ]
