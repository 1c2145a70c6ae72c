"""The cluster as a table: columns over nodes, pod counters, assumed pods, node order."""

from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import CacheError, Cluster

__all__ = ["CacheError", "Cluster", "PodInfo", "Rows"]
