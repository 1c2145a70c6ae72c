"""Pods that hold a disk or a claim which another one needs for itself."""

from collections.abc import Callable
from functools import cache

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.plugins.volume_restrictions.inline_disks import conflicts
from podium.scheduler.plugins.volume_restrictions.plugin import CLAIM_IN_USE, VolumeRestrictions


def find_blockers(situation: Situation) -> Callable[[str], list[PodInfo]]:
    """A disk is held on one node, a ReadWriteOncePod claim everywhere."""
    cluster, own = situation.cluster, situation.info

    @cache
    def claim_holders() -> list[PodInfo]:
        wanted = set(own.shape.claim_names)
        placed = (held.info for held in cluster.placements.values())
        return [info for info in placed if wanted & set(info.shape.claim_names)]

    def on_node(name: str) -> list[PodInfo]:
        infos = cluster.usage.pods(cluster.nodes.row(name))
        found = [info for info in infos if conflicts(own.pod, info.pod)]
        refused = situation.objections[name].get(VolumeRestrictions.name)
        if refused is not None and refused.reasons == CLAIM_IN_USE.reasons:
            found += claim_holders()
        return found

    return on_node
