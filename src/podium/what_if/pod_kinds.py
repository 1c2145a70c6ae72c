"""Pods that belong to their node and go with it."""

from typing import Final

from podium.api.pod import Pod

_MIRROR: Final = "kubernetes.io/config.mirror"


def is_daemon(pod: Pod) -> bool:
    """Whether a daemon set has made the pod for its node."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"


def is_bound_to_node(pod: Pod) -> bool:
    """Whether a kubelet runs the pod from a file of its own, so that nobody can evict it."""
    owner = pod.metadata.controller
    of_node = owner is not None and owner.kind == "Node"
    return of_node or _MIRROR in (pod.metadata.annotations or {})
