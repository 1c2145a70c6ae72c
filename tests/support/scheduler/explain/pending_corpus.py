"""Pending pods with known causes, over all reasons that in-tree plugins and the engine can give.

`PENDING` are the pods, `cluster_manifests` what is there when they come. Each pod is meant to be
explained alone with the cluster, `PendingPod` says how.
"""

from support.scheduler.explain.pending_by_device import BY_DEVICE
from support.scheduler.explain.pending_by_node import BY_NODE
from support.scheduler.explain.pending_by_pod import BY_POD
from support.scheduler.explain.pending_by_rule import BY_RULE
from support.scheduler.explain.pending_by_volume import BY_VOLUME
from support.scheduler.explain.pending_cluster import cluster_manifests
from support.scheduler.explain.pending_pod import PendingPod

PENDING: tuple[PendingPod, ...] = (*BY_NODE, *BY_POD, *BY_VOLUME, *BY_DEVICE, *BY_RULE)

__all__ = ["PENDING", "PendingPod", "cluster_manifests"]
