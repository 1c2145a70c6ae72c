"""InterPodAffinity: pods that must be near others, or must not."""

from podium.scheduler.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
