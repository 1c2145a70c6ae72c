"""Zones of nodes: the part of a data centre, or of a cloud, that fails as one."""

from typing import Final

from podium.kubernetes.kinds.node import Node

ZONE: Final = "topology.kubernetes.io/zone"
_OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"


def zone_of(node: Node) -> str:
    """ "" for a node that is in none."""
    labels = node.metadata.labels or {}
    return labels.get(ZONE) or labels.get(_OLD_ZONE) or ""
