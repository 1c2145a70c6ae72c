"""Pods that close a domain to another one, by anti-affinity in either direction."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.explanations.situation import Situation


class _Apart(NamedTuple):
    """A pod that does not go together with another one, and the domains in which it does not."""

    info: PodInfo
    domains: frozenset[tuple[str, str]]


def find_blockers(situation: Situation) -> Callable[[str], list[PodInfo]]:
    cluster, own = situation.cluster, situation.info

    def is_meant(term: AffinityTerm, pod: PodInfo) -> bool:
        labels = cluster.catalog.namespace_labels(pod.shape.namespace)
        return term.matches(pod.shape.namespace, pod.shape.labels, labels)

    def keys_apart(other: PodInfo) -> set[str]:
        """The topology keys of the terms that keep the two pods apart."""
        wanted, theirs = own.shape.affinity.required_anti, other.shape.affinity.required_anti
        keys = {term.topology_key for term in wanted if is_meant(term, other)}
        return keys | {term.topology_key for term in theirs if is_meant(term, own)}

    @cache
    def apart() -> list[_Apart]:
        found = []
        for held in cluster.placements.values():
            keys = keys_apart(held.info)
            if keys and cluster.nodes.present[held.row]:
                labels = cluster.nodes.node(held.row).metadata.labels or {}
                domains = frozenset((key, labels[key]) for key in keys if key in labels)
                found.append(_Apart(held.info, domains))
        return found

    def on_node(name: str) -> list[PodInfo]:
        here = frozenset((situation.node(name).metadata.labels or {}).items())
        return [info for info, domains in apart() if domains & here]

    return on_node
