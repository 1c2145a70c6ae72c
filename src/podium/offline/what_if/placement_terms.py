"""What pods ask of each other, as rows of a placement problem: affinity, anti-affinity, spreading.

Terms are read from the pods and counted over the pods that stay; the counts of spread constraints
are those of the plugin. A term whose topology key a node lacks is dealt with as the plugins do:
affinity and spreading need the key, anti-affinity does not apply without it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from podium.kubernetes.rules.host_ports import conflicts
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.offline.optimum.placement_problem import (
    Attraction,
    Domain,
    Exclusion,
    Spread,
    SpreadDomain,
)
from podium.offline.what_if.standing_filters import StandingAnswer
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.dependence import SpreadLimit


@dataclass(frozen=True, slots=True)
class AskedKind:
    """Pods that are alike, the nodes that they have ("" for none), and what filters say."""

    infos: tuple[PodInfo, ...]
    nodes: tuple[str, ...]
    answer: StandingAnswer

    @property
    def shape(self) -> PodShape:
        return self.infos[0].shape


def exclusions(cluster: Cluster, rows: Ints, kinds: Sequence[AskedKind]) -> tuple[Exclusion, ...]:
    """Required anti-affinity among the kinds, and host ports."""
    carriers: dict[AffinityTerm, list[int]] = defaultdict(list)
    minding = [at for at, kind in enumerate(kinds) if kind.answer.minds_pods]
    for at in minding:
        for term in dict.fromkeys(kinds[at].shape.affinity.required_anti):
            carriers[term].append(at)
    means = _matcher(cluster)
    found = []
    for term, carrying in carriers.items():
        meant = tuple(at for at in minding if means([term], kinds[at].shape))
        if meant:
            domains = tuple(domains_of(cluster, rows, term.topology_key).values())
            found.append(Exclusion(tuple(carrying), meant, domains))
    return (*found, *_port_exclusions(len(rows), kinds))


def _port_exclusions(nodes: int, kinds: Sequence[AskedKind]) -> list[Exclusion]:
    listening = [
        at for at, kind in enumerate(kinds) if kind.answer.minds_ports and kind.shape.ports
    ]
    singles = tuple((node,) for node in range(nodes))
    found = []
    for at in listening:
        ports = kinds[at].shape.ports
        clashing = tuple(
            other for other in listening if conflicts(ports, set(kinds[other].shape.ports))
        )
        if clashing:
            found.append(Exclusion((at,), clashing, singles))
    return found


def attractions(cluster: Cluster, rows: Ints, kinds: Sequence[AskedKind]) -> tuple[Attraction, ...]:
    """Required affinity; takes nodes without the keys from those that fit."""
    means = _matcher(cluster)
    groups: dict[tuple[tuple[AffinityTerm, ...], bool], list[int]] = defaultdict(list)
    for at, kind in enumerate(kinds):
        terms = kind.shape.affinity.required_affinity
        if kind.answer.minds_pods and terms:
            groups[terms, means(terms, kind.shape)].append(at)
    found = []
    for (terms, is_of_kind), carrying in groups.items():
        keys = list(dict.fromkeys(term.topology_key for term in terms))
        by_key = [domains_of(cluster, rows, key) for key in keys]
        for domains in by_key:
            _require_label(kinds, carrying, domains.values())
        there = {
            position
            for position, row in enumerate(rows.tolist())
            if any(means(terms, info.shape) for info in cluster.usage.pods(row))
        }
        # upstream: who is on a node without the key does not count, here either
        counted = {at for domains in by_key for nodes in domains.values() for at in nodes}
        found.append(
            Attraction(
                tuple(carrying),
                tuple(at for at, kind in enumerate(kinds) if means(terms, kind.shape)),
                tuple(
                    tuple(nodes for nodes in domains.values() if not there.intersection(nodes))
                    for domains in by_key
                ),
                is_of_kind and not there & counted,
            )
        )
    return tuple(found)


def spreads(rows: Ints, kinds: Sequence[AskedKind]) -> tuple[Spread, ...]:
    """DoNotSchedule constraints; takes nodes without the keys from those that fit."""
    groups: dict[tuple[object, ...], tuple[SpreadLimit, list[int]]] = {}
    for at, kind in enumerate(kinds):
        for limit in kind.answer.spread:
            kind.answer.fits[limit.domains[rows] == 0] = False
            eligible = None if limit.eligible is None else limit.eligible[rows].tobytes()
            key = (kind.shape.namespace, limit.constraint, eligible)
            groups.setdefault(key, (limit, []))[1].append(at)
    return tuple(
        _spread(rows, kinds, limit, carrying)
        for limit, carrying in groups.values()
        if not limit.selector.empty
    )


def _spread(
    rows: Ints, kinds: Sequence[AskedKind], limit: SpreadLimit, carrying: list[int]
) -> Spread:
    namespace = kinds[carrying[0]].shape.namespace
    selector = limit.selector
    slots = limit.domains[rows]
    eligible = np.ones(len(rows), dtype=np.bool_)
    if limit.eligible is not None:
        eligible = limit.eligible[rows]
    domains = []
    for slot in sorted(set(slots.tolist()) - {0}):
        inside = slots == slot
        domains.append(
            SpreadDomain(
                tuple(np.flatnonzero(inside).tolist()),
                tuple(np.flatnonzero(inside & eligible).tolist()),
                int(limit.counts[slot]),
                limit.entries is None or bool(limit.entries[slot]),
            )
        )
    entries = sum(domain.is_entry for domain in domains)
    return Spread(
        tuple(carrying),
        tuple(
            at
            for at, kind in enumerate(kinds)
            if kind.shape.namespace == namespace and selector.matches(kind.shape.labels)
        ),
        limit.max_skew,
        tuple(domains),
        entries == 0 or entries < limit.min_domains,
    )


def domains_of(cluster: Cluster, rows: Ints, key: str) -> dict[str, Domain]:
    """Positions of nodes by the value of a label, without those that lack it."""
    found: dict[str, list[int]] = defaultdict(list)
    for position, row in enumerate(rows.tolist()):
        value = (cluster.nodes.node(row).metadata.labels or {}).get(key)
        if value is not None:
            found[value].append(position)
    return {value: tuple(positions) for value, positions in found.items()}


def _require_label(
    kinds: Sequence[AskedKind], carrying: Iterable[int], domains: Iterable[Domain]
) -> None:
    labelled = [position for nodes in domains for position in nodes]
    for at in carrying:
        fits = kinds[at].answer.fits
        lacking = np.ones(len(fits), dtype=np.bool_)
        lacking[labelled] = False
        fits[lacking] = False


def _matcher(cluster: Cluster) -> Callable[[Sequence[AffinityTerm], PodShape], bool]:
    """Whether all of some terms mean pods of a shape."""

    def means(terms: Sequence[AffinityTerm], shape: PodShape) -> bool:
        labels = cluster.catalog.namespace_labels(shape.namespace)
        return all(term.matches(shape.namespace, shape.labels, labels) for term in terms)

    return means
