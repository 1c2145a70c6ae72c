"""Labels of nodes that have other names by now.

Kubernetes 1.36 still writes both: kubelets the old ones of operating system and architecture beside
the new, cloud providers those of zone, region and machine type. So a selector or topology key of
long ago works in a real cluster, and whoever makes nodes up here gives them both as well.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

TODAY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "beta.kubernetes.io/arch": "kubernetes.io/arch",
        "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/os": "kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    }
)
"""The name of today by the old one."""


def missing_old_labels(labels: Mapping[str, str], wanted: Iterable[str] = TODAY) -> dict[str, str]:
    """Old labels of a node that has them under their names of today only."""
    return {old: labels[TODAY[old]] for old in wanted if TODAY[old] in labels and old not in labels}


def missing_twins(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that a node has under one of their two names only, by the other name."""
    new = {TODAY[old]: labels[old] for old in TODAY if old in labels and TODAY[old] not in labels}
    return {**missing_old_labels(labels), **new}


def written_twins(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What to write after a change of a node's labels, so that both names say the same.

    The name of today decides where both were written; what was taken away is not brought back.
    """
    found: dict[str, str] = {}
    for old, new in TODAY.items():
        if new in after and after[new] != before.get(new):
            found[old] = after[new]
        elif old in after and after[old] != before.get(old):
            found[new] = after[old]
    return {name: text for name, text in found.items() if after.get(name) != text}
