"""Pods that hold something which another one needs for itself.

A host port and a disk are held on one node, a ReadWriteOncePod claim everywhere, and anti-affinity,
in either direction, closes a whole domain. Who holds what on which node is looked up once for all
nodes.
"""

from functools import cached_property
from typing import NamedTuple

from podium.cluster.pod_info import PodInfo
from podium.explain.proposals.situation import Situation
from podium.kubernetes.rules.host_ports import conflicts as port_conflicts
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.plugins.volume_restrictions.inline_disks import conflicts as disk_conflicts
from podium.plugins.volume_restrictions.plugin import CLAIM_IN_USE


class _Apart(NamedTuple):
    """A pod that does not go together with another one, and the domains in which it does not."""

    info: PodInfo
    domains: frozenset[tuple[str, str]]


class Blockers:
    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._cluster = situation.trial.engine.cluster
        self._own = self._cluster.infos.of(situation.pod)

    def on_node(self, name: str) -> list[PodInfo]:
        """All pods that would have to leave so that filters other than the one for resources let
        the pod onto a node."""
        objections = self._situation.objections[name]
        found: dict[str, PodInfo] = {}
        for info in self._cluster.usage.pods(self._cluster.nodes.row(name)):
            if "NodePorts" in objections and port_conflicts(
                self._own.shape.ports, info.shape.ports
            ):
                found[info.uid] = info
            if "VolumeRestrictions" in objections and disk_conflicts(self._own.pod, info.pod):
                found[info.uid] = info
        restricted = objections.get("VolumeRestrictions")
        if restricted is not None and restricted.reasons == CLAIM_IN_USE.reasons:
            found |= {info.uid: info for info in self._claim_holders}
        if "InterPodAffinity" in objections:
            here = frozenset((self._situation.node(name).metadata.labels or {}).items())
            found |= {info.uid: info for info, domains in self._apart if domains & here}
        return list(found.values())

    @cached_property
    def _claim_holders(self) -> list[PodInfo]:
        wanted = set(self._own.shape.claim_names)
        placed = (held.info for held in self._cluster.placements.values())
        return [info for info in placed if wanted & set(info.shape.claim_names)]

    @cached_property
    def _apart(self) -> list[_Apart]:
        found = []
        for held in self._cluster.placements.values():
            keys = self._keys_apart(held.info)
            if keys and self._cluster.nodes.present[held.row]:
                labels = self._cluster.nodes.node(held.row).metadata.labels or {}
                domains = frozenset((key, labels[key]) for key in keys if key in labels)
                found.append(_Apart(held.info, domains))
        return found

    def _keys_apart(self, other: PodInfo) -> set[str]:
        """The topology keys of the terms that keep the two pods apart."""
        own = self._own.shape.affinity.required_anti
        theirs = other.shape.affinity.required_anti
        keys = {term.topology_key for term in own if self._is_meant(term, other)}
        return keys | {term.topology_key for term in theirs if self._is_meant(term, self._own)}

    def _is_meant(self, term: AffinityTerm, pod: PodInfo) -> bool:
        labels = self._cluster.catalog.namespace_labels(pod.shape.namespace)
        return term.matches(pod.shape.namespace, pod.shape.labels, labels)
