"""Pod affinity said pod by pod and node by node, slowly and plainly.

Tests hold the columns of the real plugin against these dictionaries.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.pod_affinity import AffinityTerm, parse_pod_affinity

Namespaces = Mapping[str, Mapping[str, str]]
"""Known namespaces and their labels."""

Pair = tuple[str, str]


def labels_of(thing: Node | Pod) -> Mapping[str, str]:
    return thing.metadata.labels or {}


def unrolled(term: AffinityTerm, namespaces: Namespaces) -> AffinityTerm:
    """The term with the namespaces that its selector means; the selector stays (quirk Q1)."""
    if term.namespace_selector.empty:
        return term
    chosen = {n for n, labels in namespaces.items() if term.namespace_selector.matches(labels)}
    return term._replace(namespaces=term.namespaces | chosen)


def means(term: AffinityTerm, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
    return term.matches(pod.metadata.namespace, pod.metadata.labels, namespace_labels)


class ReferenceFilter:
    """The three maps of PreFilter, which a trial may change, and the verdict of Filter."""

    def __init__(
        self, pod: Pod, nodes: Sequence[Node], pods: Sequence[Pod], namespaces: Namespaces
    ) -> None:
        self.pod = pod
        self.own_labels = namespaces.get(pod.metadata.namespace, {})
        terms = parse_pod_affinity(pod)
        self.affinity_terms = [unrolled(t, namespaces) for t in terms.required_affinity]
        self.anti_terms = [unrolled(t, namespaces) for t in terms.required_anti]
        self.affinity: Counter[Pair] = Counter()
        self.anti: Counter[Pair] = Counter()
        self.existing: Counter[Pair] = Counter()
        by_name = {node.metadata.name: node for node in nodes}
        for other in pods:
            if other.spec.node_name in by_name:
                self.shift(other, by_name[other.spec.node_name], 1)

    @property
    def skips(self) -> bool:
        return not (self.existing or self.affinity_terms or self.anti_terms)

    def shift(self, other: Pod, node: Node, delta: int) -> None:
        def add(to: Counter[Pair], term: AffinityTerm) -> None:
            value = labels_of(node).get(term.topology_key)
            if value is not None:
                pair = (term.topology_key, value)
                to[pair] += delta
                if to[pair] == 0:
                    del to[pair]

        for term in parse_pod_affinity(other).required_anti:
            if means(term, self.pod, self.own_labels):
                add(self.existing, term)
        if self.affinity_terms and all(means(t, other, {}) for t in self.affinity_terms):
            for term in self.affinity_terms:
                add(self.affinity, term)
        for term in self.anti_terms:
            if means(term, other, {}):
                add(self.anti, term)

    def verdict(self, node: Node) -> str:
        """`affinity`, `anti`, `existing` or nothing."""
        if not self._is_near(node):
            return "affinity"
        labels = labels_of(node)
        for term in self.anti_terms:
            value = labels.get(term.topology_key)
            if value is not None and self.anti[term.topology_key, value] > 0:
                return "anti"
        if any(self.existing[pair] > 0 for pair in labels.items()):
            return "existing"
        return ""

    def _is_near(self, node: Node) -> bool:
        missing = False
        for term in self.affinity_terms:
            value = labels_of(node).get(term.topology_key)
            if value is None:
                return False
            missing |= self.affinity[term.topology_key, value] <= 0
        if not missing:
            return True
        return not self.affinity and all(means(t, self.pod, {}) for t in self.affinity_terms)


def reference_scores(
    pod: Pod,
    nodes: Sequence[Node],
    feasible: Sequence[Node],
    pods: Sequence[Pod],
    namespaces: Namespaces,
    *,
    hard_weight: int = 1,
    own_only: bool = False,
) -> tuple[dict[str, int], dict[str, int]] | None:
    """(raw, normalized) by node name; None when there is nothing to score."""
    terms = parse_pod_affinity(pod)
    if own_only and not (terms.preferred_affinity or terms.preferred_anti):
        return None
    by_name = {node.metadata.name: node for node in nodes}
    own_labels = namespaces.get(pod.metadata.namespace, {})
    entries: dict[Pair, int] = {}

    def add(term: AffinityTerm, weight: int, node: Node) -> None:
        value = labels_of(node).get(term.topology_key)
        if value is not None:
            pair = (term.topology_key, value)
            entries[pair] = entries.get(pair, 0) + weight

    for other in pods:
        node = by_name.get(other.spec.node_name)
        if node is None:
            continue
        for sign, weighted in ((1, terms.preferred_affinity), (-1, terms.preferred_anti)):
            for weight, term in weighted:
                if means(unrolled(term, namespaces), other, {}):
                    add(term, sign * weight, node)
        theirs = parse_pod_affinity(other)
        for term in theirs.required_affinity:
            if hard_weight > 0 and means(term, pod, own_labels):
                add(term, hard_weight, node)
        for sign, weighted in ((1, theirs.preferred_affinity), (-1, theirs.preferred_anti)):
            for weight, term in weighted:
                if means(term, pod, own_labels):
                    add(term, sign * weight, node)
    if not entries:
        return None
    raw = {
        node.metadata.name: sum(entries.get(pair, 0) for pair in labels_of(node).items())
        for node in feasible
    }
    low, high = min(raw.values()), max(raw.values())
    return raw, {
        name: int(100.0 * (float(score - low) / float(high - low))) if high > low else 0
        for name, score in raw.items()
    }
