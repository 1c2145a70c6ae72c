"""Pods that others must be near, or must not be near: the term, and who stands in the way."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    joined,
    selector_text,
    some,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from podium.scheduler.plugins.inter_pod_affinity.filtering import (
    REASON_AFFINITY,
    REASON_ANTI_AFFINITY,
    REASON_EXISTING_ANTI_AFFINITY,
)
from podium.scheduler.plugins.inter_pod_affinity.terms import CarriedTerms, TermQueries
from podium.scheduler.plugins.pod_topology_spread.scoring import HOSTNAME

MAX_DOMAINS = 5

IsMeant = Callable[[PodInfo], bool]


def narrow_by_affinity(view: AttemptView) -> Narrowing:
    """Where required pod affinity lets the pod go."""
    failed = view.with_reason(InterPodAffinity.name, REASON_AFFINITY)
    terms = view.shape.affinity.required_affinity
    wanted = joined(f"a pod with {selector_text(term.selector)}" for term in terms)
    keys = joined(dict.fromkeys(term.topology_key for term in terms))
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
    wanted = joined(selector_text(term.selector) for term in terms)
    query = TermQueries(view.catalog).query(*terms)
    there = _counts(view, query)
    if not there.any():
        return [_find_nobody(view, among, terms, wanted)]
    domains = dict.fromkeys(
        f"{term.topology_key} {value}"
        for term in terms
        for value in _domains(view, term.topology_key, there)
    )
    pods = [f"{pod.key} on {node}" for pod, node in _pods(view, there, _matching(query))]
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
            clause = (
                f"no node has the label {term.topology_key}, which the pod's affinity to"
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
    where = joined(namespaces) or "those that its namespaceSelector selects"
    clause = (
        f"the pod's affinity asks for a pod with {wanted} in namespace {where}; there is no pod"
    )
    clause += " like that on any node"
    query = PodQuery(tuple((None, term.selector) for term in terms))
    strangers = [pod.key for pod, _ in _pods(view, _counts(view, query), _matching(query))]
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
            view, "pod-anti-affinity", told, term, nodes, there, _matching(query), excluded
        )


def _find_existing_anti(view: AttemptView, among: Mask) -> Iterator[Finding]:
    carried = CarriedTerms(view.catalog, view.cluster.classes)
    left = among
    for carried_term, counter in carried.matching("required_anti", view.shape):
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


def _matching(query: PodQuery) -> IsMeant:
    return lambda pod: query.matches(pod.shape.namespace, pod.shape.labels, pod.terminating)
