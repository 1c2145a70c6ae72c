"""The cluster as a table: columns over nodes, pod counters, assumed pods, node order."""

from podium.cluster.growth import Rows
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import CacheError, Cluster

__all__ = ["CacheError", "Cluster", "PodInfo", "Rows"]
