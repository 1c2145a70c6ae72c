"""PodTopologySpread: pods spread evenly over domains."""

from podium.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
