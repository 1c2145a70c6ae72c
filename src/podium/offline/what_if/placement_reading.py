"""A placement problem as the scheduler's own plugins state it.

Pods are gathered into kinds by their shape and priority; nodes stay apart. What a node can take is
what filters say of the cluster without these pods (`standing_filters.py`), the sums that filters
count, and the rows of pods that keep each other near or away. Contract: every placement that the
scheduler can reach by placing the pods one after the other satisfies the problem. `ignored` names
what the problem leaves out.

What pods ask of each other, as rows of a placement problem: affinity, anti-affinity, spreading.
Terms are read from the pods and counted over the pods that stay; the counts of spread constraints
are those of the plugin. A term whose topology key a node lacks is dealt with as the plugins do:
affinity and spreading need the key, anti-affinity does not apply without it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.host_ports import conflicts
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.kubernetes.rules.requests import PODS
from podium.offline.optimum.placement_problem import (
    Attraction,
    Domain,
    EqualPodDemand,
    Exclusion,
    PlacementProblem,
    Spread,
    SpreadDomain,
)
from podium.offline.what_if.standing_filters import StandingAnswer, ask_filters
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine.scheduler import Engine
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


@dataclass(frozen=True, slots=True)
class StatedProblem:
    problem: PlacementProblem
    pods: tuple[tuple[PodInfo, ...], ...]
    """Of each kind, in the order in which they came."""
    ignored: tuple[str, ...]


def state_problem(
    engine: Engine, waiting: Iterable[Pod], held: Mapping[str, Iterable[Pod]] | None = None
) -> StatedProblem:
    """How `waiting` pods could be placed, and those of `held`, which have a node and are not in the
    engine's cluster, be placed anew."""
    infos = engine.cluster.infos
    groups: dict[tuple[object, int, bool], list[tuple[PodInfo, str]]] = {}
    for pod in waiting:
        info = infos.of(pod)
        groups.setdefault((info.shape, info.priority, False), []).append((info, ""))
    for node, pods in (held or {}).items():
        for pod in pods:
            # Its successor has no node yet.
            info = infos.of(replace(pod, spec=replace(pod.spec, node_name="")))
            groups.setdefault((info.shape, info.priority, True), []).append((info, node))
    rows = np.array(engine.cluster.node_order(), dtype=np.intp)
    kinds = [
        AskedKind(
            tuple(info for info, _ in group),
            tuple(node for _, node in group),
            ask_filters(engine, group[0][0], rows),
        )
        for group in groups.values()
    ]
    return _state(engine, rows, kinds)


def _state(engine: Engine, rows: Ints, kinds: list[AskedKind]) -> StatedProblem:
    names = tuple(engine.cluster.nodes.names[row] for row in rows.tolist())
    position = {name: at for at, name in enumerate(names)}
    # Terms first: they take away nodes that lack a label.
    spread = spreads(rows, kinds)
    attracted = attractions(engine.cluster, rows, kinds)
    apart = exclusions(engine.cluster, rows, kinds)
    problem = PlacementProblem(
        names,
        tuple(_pod_kind(kind, position) for kind in kinds),
        _free(engine, rows, kinds),
        apart,
        attracted,
        spread,
    )
    return StatedProblem(problem, tuple(kind.infos for kind in kinds), _find_ignored(engine, kinds))


def _pod_kind(kind: AskedKind, position: Mapping[str, int]) -> EqualPodDemand:
    held: dict[int, int] = {}
    for node in kind.nodes:
        if node:
            held[position[node]] = held.get(position[node], 0) + 1
    return EqualPodDemand(
        len(kind.infos),
        _demands(kind.infos[0], kind.answer),
        frozenset(np.flatnonzero(kind.answer.fits).tolist()),
        kind.infos[0].priority,
        held,
    )


def _demands(info: PodInfo, answer: StandingAnswer) -> dict[str, int]:
    """What a pod must find free and also takes, so that a node is full when the sums say so."""
    if answer.demands is None:
        return answer.amounts
    taken = info.shape.accounted
    found: dict[str, int] = {}
    for resource, amount, _ in answer.demands:
        found[resource] = max(found.get(resource, 0), min(amount, taken.get(resource, 0)))
    positive = {name: amount for name, amount in found.items() if amount > 0}
    return {PODS: 1, **positive, **answer.amounts}


def _free(engine: Engine, rows: Ints, kinds: list[AskedKind]) -> list[dict[str, int]]:
    nodes, usage = engine.cluster.nodes, engine.cluster.usage
    usage.grow()
    free: list[dict[str, int]] = [
        {PODS: int(nodes.allowed_pods[row] - usage.pod_count[row])} for row in rows.tolist()
    ]
    demands = {
        (demand.resource, demand.delegable)
        for kind in kinds
        for demand in kind.answer.demands or ()
    }
    for resource, is_delegable in sorted(demands):
        index = nodes.resources.find(resource)
        if index < 0:
            continue
        left = (nodes.allocatable[index][rows] - usage.requested_of(index)[rows]).tolist()
        for at, amount in enumerate(left):
            # A device class serves nodes that have none of the resource.
            if not (is_delegable and nodes.allocatable[index][rows[at]] == 0):
                free[at][resource] = int(amount)
    for at, counted in enumerate(_free_amounts(rows, kinds)):
        free[at] |= counted
    return free


def _free_amounts(rows: Ints, kinds: list[AskedKind]) -> list[dict[str, int]]:
    """What is left of what plugins count themselves. A name that several use is of different things
    (the cards of two dialects), and is left out."""
    free: list[dict[str, int]] = [{} for _ in rows]
    counting = {id(plugin): plugin for kind in kinds for plugin in kind.answer.counting}
    left = [plugin.count_free(rows) for plugin in counting.values()]
    users = Counter(name for of_plugin in left for name in {n for each in of_plugin for n in each})
    for of_plugin in left:
        for at, amounts in enumerate(of_plugin):
            free[at] |= {name: left for name, left in amounts.items() if users[name] == 1}
    return free


def _find_ignored(engine: Engine, kinds: list[AskedKind]) -> tuple[str, ...]:
    found = {name: f"plugin {name}" for kind in kinds for name in sorted(kind.answer.disbelieved)}
    told = [found[name] for name in sorted(found)]
    firsts = [kind.infos[0].pod for kind in kinds]
    if any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None
        for pod in firsts
        for volume in pod.spec.volumes or ()
    ):
        told.append("volumes that pods compete for")
    told += dict.fromkeys(text for kind in kinds for text in kind.answer.leaves_out)
    if any(pod.spec.resource_claims for pod in firsts):
        told.append("devices that pods compete for")
    if any(pod.spec.scheduling_group is not None for pod in firsts):
        told.append("groups of pods that start together")
    if engine.configuration.extenders:
        told.append("extenders")
    return tuple(told)
