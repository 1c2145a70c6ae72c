"""Pods that belong to their node and go with it: those of DaemonSets and of the kubelet."""

from typing import Final

from podium.kubernetes.kinds.pod import Pod

CONFIG_MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation by which a kubelet shows a pod that it runs from a file of its own."""


def is_daemon(pod: Pod) -> bool:
    """Whether a daemon set has made the pod for its node."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"


def is_bound_to_node(pod: Pod) -> bool:
    """Whether a kubelet runs the pod from a file of its own, so that nobody can evict it."""
    owner = pod.metadata.controller
    of_node = owner is not None and owner.kind == "Node"
    return of_node or CONFIG_MIRROR in (pod.metadata.annotations or {})
