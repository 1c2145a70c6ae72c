"""What people are told of required affinity: the term, who is in the way, what would help.

Proposed are a wish in place of a demand, the right key, and the eviction of pods that close a
domain by anti-affinity in either direction.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    join_words,
    or_rather,
    selector_text,
    some,
)
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.inter_pod_affinity.counting import (
    REASON_AFFINITY,
    REASON_ANTI_AFFINITY,
    REASON_EXISTING_ANTI_AFFINITY,
)
from podium.scheduler.plugins.inter_pod_affinity.plugin import InterPodAffinity
from podium.scheduler.plugins.inter_pod_affinity.terms import CarriedTerms, TermQueries
from podium.scheduler.plugins.pod_topology_spread.counting import HOSTNAME

MAX_DOMAINS = 5

IsMeant = Callable[[PodInfo], bool]


def narrow_by_affinity(view: AttemptView) -> Narrowing:
    """Where required pod affinity lets the pod go."""
    failed = view.with_reason(InterPodAffinity.name, REASON_AFFINITY)
    terms = view.shape.affinity.required_affinity
    wanted = join_words(f"a pod with {selector_text(term.selector)}" for term in terms)
    keys = join_words(dict.fromkeys(term.topology_key for term in terms))
    if keys == HOSTNAME:
        plural, singular = f"run {wanted}", f"runs {wanted}"
    else:
        plural = f"share {keys} with {wanted}"
        singular = plural.replace("share", "shares", 1)
    return Narrowing(
        InterPodAffinity.name, ~failed, plural, singular, lambda among: find_affinity(view, among)
    )


def find_affinity(view: AttemptView, among: Mask) -> list[Finding]:
    """Why no node is near enough to the pods that this one wants to be near."""
    terms = view.shape.affinity.required_affinity
    unlabelled = _find_unlabelled(view, among, terms)
    if unlabelled is not None:
        return [unlabelled]
    wanted = join_words(selector_text(term.selector) for term in terms)
    query = TermQueries(view.catalog).query(*terms)
    there = _counts(view, query)
    if not there.any():
        return [_find_nobody(view, among, terms, wanted)]
    domains = dict.fromkeys(
        f"{term.topology_key} {value}"
        for term in terms
        for value in _domains(view, term.topology_key, there)
    )
    pods = [f"{pod.key} on {node}" for pod, node in _pods(view, there, _match_query(query))]
    clause = (
        f"the pod's affinity to {wanted} demands {some(list(domains), MAX_DOMAINS)},"
        f" where {some(pods, 2)} {'runs' if len(pods) == 1 else 'run'}"
    )
    return [
        Finding(
            "pod-affinity-elsewhere",
            wanted,
            among,
            clause,
            f"no pod with {wanted} in the domain of the node",
            facts={"selector": wanted, "domains": list(domains), "pods": [*pods[:20]]},
        )
    ]


def find_affinity_conflicts(view: AttemptView, among: Mask) -> list[Finding]:
    """Anti-affinity of the pod itself and of pods that are there."""
    found: list[Finding] = []
    affinity = among & view.with_reason(InterPodAffinity.name, REASON_AFFINITY)
    if affinity.any():
        found.extend(find_affinity(view, affinity))
    own = among & view.with_reason(InterPodAffinity.name, REASON_ANTI_AFFINITY)
    if own.any():
        found.extend(_find_own_anti(view, own))
    others = among & view.with_reason(InterPodAffinity.name, REASON_EXISTING_ANTI_AFFINITY)
    if others.any():
        found.extend(_find_existing_anti(view, others))
    return found


def _find_unlabelled(
    view: AttemptView, among: Mask, terms: Sequence[AffinityTerm]
) -> Finding | None:
    for term in terms:
        if not view.label(term.topology_key, view.everywhere):
            meant = or_rather(view.table.labels.closest_key(term.topology_key))
            clause = (
                f"no node has the label {term.topology_key}{meant}, which the pod's affinity to"
                f" {selector_text(term.selector)} counts by"
            )
            return Finding(
                "topology-key-missing",
                term.topology_key,
                among,
                clause,
                f"the node has no label {term.topology_key}",
                facts={"topologyKey": term.topology_key},
            )
    return None


def _find_nobody(
    view: AttemptView, among: Mask, terms: Sequence[AffinityTerm], wanted: str
) -> Finding:
    namespaces = sorted(frozenset().union(*(term.namespaces for term in terms)))
    where = join_words(namespaces) or "those that its namespaceSelector selects"
    clause = (
        f"the pod's affinity asks for a pod with {wanted} in namespace {where}; there is no pod"
    )
    clause += " like that on any node"
    query = PodQuery(tuple((None, term.selector) for term in terms))
    strangers = [pod.key for pod, _ in _pods(view, _counts(view, query), _match_query(query))]
    if strangers:
        clause += f" (in other namespaces there {'is' if len(strangers) == 1 else 'are'}"
        clause += f" {some(strangers)})"
    return Finding(
        "pod-affinity-no-match",
        wanted,
        among,
        clause,
        f"no pod with {wanted} anywhere in namespace {where}",
        facts={"selector": wanted, "namespaces": [*namespaces], "elsewhere": [*strangers[:20]]},
    )


def _find_own_anti(view: AttemptView, among: Mask) -> Iterator[Finding]:
    queries = TermQueries(view.catalog)
    left = among
    for term in view.shape.affinity.required_anti:
        query = queries.query(term)
        there = _counts(view, query)
        nodes = left & _in_domains(view, term.topology_key, there)
        if not nodes.any():
            continue
        left = left & ~nodes
        told = selector_text(term.selector)
        excluded = f"the pod's anti-affinity to {told}"
        yield _find_conflict(
            view, "pod-anti-affinity", told, term, nodes, there, _match_query(query), excluded
        )


def _find_existing_anti(view: AttemptView, among: Mask) -> Iterator[Finding]:
    carried = CarriedTerms(view.catalog, view.cluster.classes)
    left = among
    for carried_term, counter in carried.find_matching("required_anti", view.shape):
        term = carried_term.term
        there = view.cluster.classes.column(counter)[view.rows]
        nodes = left & _in_domains(view, term.topology_key, there)
        if not nodes.any():
            continue
        left = left & ~nodes

        def carries(pod: PodInfo, term: AffinityTerm = term) -> bool:
            return term in pod.shape.affinity.required_anti

        told = selector_text(term.selector)
        excluded = f"anti-affinity of other pods to {told}"
        yield _find_conflict(
            view, "existing-pod-anti-affinity", told, term, nodes, there, carries, excluded
        )


def _find_conflict(
    view: AttemptView,
    code: str,
    subject: str,
    term: AffinityTerm,
    nodes: Mask,
    there: Ints,
    is_meant: IsMeant,
    excluded: str,
) -> Finding:
    """Nodes that pods keep out of their topology domain."""
    key = term.topology_key
    pods = _pods(view, np.where(_in_domains(view, key, nodes.astype(np.int64)), there, 0), is_meant)
    by_domain: dict[str, str] = {}
    for pod, node in pods:
        by_domain.setdefault(_value(view, key, node), f"{pod.key} on {node}")
    who = some([pod.key for pod, _ in pods])
    if key == HOSTNAME:
        clause = f"{excluded} rules out nodes with {who}: {view.say(nodes, 'has', 'have')} one"
    else:
        domains = some(list(by_domain), MAX_DOMAINS)
        run = "runs" if len(pods) == 1 else "run"
        clause = f"{excluded} rules out {key} {domains}, where {who} {run}"
    column = view.table.labels.column(key)
    codes = column.codes[view.rows]
    texts = {
        code_of: f"{excluded}: {by_domain.get(column.values[code_of], 'a pod')}"
        for code_of in np.unique(codes[nodes]).tolist()
        if code_of >= 0
    }
    return Finding(
        code,
        f"{subject} by {key}",
        nodes,
        clause,
        f"{excluded}: {who}",
        lambda position: texts[int(codes[position])],
        facts={
            "selector": subject,
            "topologyKey": key,
            "domains": [*list(by_domain)[:20]],
            "pods": [*(pod.key for pod, _ in pods[:20])],
        },
    )


def _counts(view: AttemptView, query: PodQuery) -> Ints:
    return view.cluster.classes.counts(query)[view.rows]


def _in_domains(view: AttemptView, key: str, there: Ints) -> Mask:
    """Nodes in the domain of a node with a count."""
    codes = view.table.labels.column(key).codes[view.rows]
    mask: Mask = np.isin(codes, np.unique(codes[there > 0])) & (codes >= 0)
    return mask


def _domains(view: AttemptView, key: str, there: Ints) -> list[str]:
    return sorted(value for value, _ in view.label(key, there > 0))


def _value(view: AttemptView, key: str, node: str) -> str:
    return (view.examination.objects[node].metadata.labels or {}).get(key, "")


def _pods(view: AttemptView, there: Ints, is_meant: IsMeant) -> list[tuple[PodInfo, str]]:
    """The pods of some nodes that are meant, with their nodes, in the order of nodes."""
    return [
        (pod, view.names[position])
        for position in np.flatnonzero(there).tolist()
        for pod in view.pods_on(position)
        if is_meant(pod)
    ]


def _match_query(query: PodQuery) -> IsMeant:
    return lambda pod: query.matches(pod.shape.namespace, pod.shape.labels, pod.terminating)


WEIGHT = 100
"""Of a term that was a demand and becomes a wish: the strongest there is."""
Side = Literal["pod_affinity", "pod_anti_affinity"]
_WORDS: dict[Side, str] = {"pod_affinity": "affinity", "pod_anti_affinity": "anti-affinity"}


def propose_other_affinity(situation: Situation) -> Iterator[ProposedChange]:
    if not situation.nodes_near(InterPodAffinity.name):
        return
    for side, word in _WORDS.items():
        terms = _required_terms(situation.pod, side)
        for at, term in enumerate(terms):
            yield from _propose_for_term(situation, side, at, term)
        if len(terms) > 1:
            yield situation.change_pod(
                f"relax-pod-{word}",
                f"prefer all {len(terms)} terms of the pod {word} in place of requiring them",
                disturbance.RELAX_AFFINITY + len(terms),
                _prefer(situation.pod, side, tuple(range(len(terms)))),
            )


def _propose_for_term(
    situation: Situation, side: Side, at: int, term: PodAffinityTerm
) -> Iterator[ProposedChange]:
    pod, word = situation.pod, _WORDS[side]
    alike = situation.cluster.nodes.labels.closest_key(term.topology_key)
    if alike:
        yield situation.change_pod(
            "correct-topology-key",
            f"ask for the pod {word} to {describe_term(term)} over {alike} in place of"
            f" {term.topology_key}, which no node has",
            disturbance.CORRECT_NAME,
            _with_terms(pod, side, at, replace(term, topology_key=alike)),
        )
    yield situation.change_pod(
        f"relax-pod-{word}",
        f"prefer the pod {word} to {describe_term(term)} over {term.topology_key} in place of"
        " requiring it",
        disturbance.RELAX_AFFINITY,
        _prefer(pod, side, (at,)),
    )


def describe_term(term: PodAffinityTerm) -> str:
    """The pods that a term means, by their labels."""
    try:
        selector = selector_of(term.label_selector)
    except SelectorError:
        return "pods that cannot be selected"
    if selector.nothing:
        return "no pod at all"
    told = ",".join(map(str, selector.requirements))
    return told or "all pods"


def _side(pod: Pod, side: Side) -> PodAffinity:
    affinity = pod.spec.affinity
    found: PodAffinity | None = getattr(affinity, side) if affinity is not None else None
    return found or PodAffinity()


def _required_terms(pod: Pod, side: Side) -> tuple[PodAffinityTerm, ...]:
    return _side(pod, side).required_during_scheduling_ignored_during_execution or ()


def _with_terms(pod: Pod, side: Side, at: int, term: PodAffinityTerm) -> Pod:
    terms = list(_required_terms(pod, side))
    terms[at] = term
    changed = replace(
        _side(pod, side), required_during_scheduling_ignored_during_execution=tuple(terms)
    )
    return _with_side(pod, side, changed)


def _prefer(pod: Pod, side: Side, places: tuple[int, ...]) -> Pod:
    terms, before = _required_terms(pod, side), _side(pod, side)
    kept = tuple(term for at, term in enumerate(terms) if at not in places)
    wishes = tuple(
        WeightedPodAffinityTerm(weight=WEIGHT, pod_affinity_term=terms[at]) for at in places
    )
    changed = PodAffinity(
        required_during_scheduling_ignored_during_execution=kept or None,
        preferred_during_scheduling_ignored_during_execution=(
            *(before.preferred_during_scheduling_ignored_during_execution or ()),
            *wishes,
        ),
    )
    return _with_side(pod, side, changed)


def _with_side(pod: Pod, side: Side, changed: PodAffinity) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None:
        return pod
    match side:
        case "pod_affinity":
            affinity = replace(affinity, pod_affinity=changed)
        case "pod_anti_affinity":
            affinity = replace(affinity, pod_anti_affinity=changed)
    return replace(pod, spec=replace(pod.spec, affinity=affinity))


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
