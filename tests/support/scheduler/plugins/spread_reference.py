"""Topology spreading said node by node and pod by pod, slowly and plainly.

Tests hold the columns of the real plugin against these dictionaries. Own constraints only; what
default constraints add is one selector, which has tests of its own.
"""

from collections.abc import Iterable, Mapping, Sequence

from podium.golang.arithmetic import go_log
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, TopologySpreadConstraint
from podium.kubernetes.rules.labels import Selector, selector_of, selector_of_map
from podium.kubernetes.rules.node_affinity import required_of
from podium.kubernetes.rules.tolerations import find_untolerated_taint

HOSTNAME = "kubernetes.io/hostname"


def labels_of(thing: Node | Pod) -> Mapping[str, str]:
    return thing.metadata.labels or {}


def constraints_of(pod: Pod, action: str) -> list[TopologySpreadConstraint]:
    written = pod.spec.topology_spread_constraints or ()
    return [c for c in written if c.when_unsatisfiable == action]


def selector_for(constraint: TopologySpreadConstraint, pod: Pod) -> Selector:
    selector = selector_of(constraint.label_selector)
    for key in constraint.match_label_keys or ():
        if key in labels_of(pod):
            selector = selector.merge(selector_of_map({key: labels_of(pod)[key]}))
    return selector


def is_included(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    honors_affinity = constraint.node_affinity_policy in (None, "Honor")
    honors_taints = constraint.node_taints_policy == "Honor"
    wanted = required_of(pod).matches(node.metadata.labels, node.metadata.name)
    taints, given = node.spec.taints, pod.spec.tolerations
    tolerated = find_untolerated_taint(taints, given, comparison=False) is None
    return (wanted or not honors_affinity) and (tolerated or not honors_taints)


def pods_counted_on(node: Node, pods: Iterable[Pod], pod: Pod, selector: Selector) -> int:
    if selector.empty:
        return 0
    return sum(
        other.spec.node_name == node.metadata.name
        and other.metadata.namespace == pod.metadata.namespace
        and other.metadata.deletion_timestamp is None
        and selector.matches(other.metadata.labels)
        for other in pods
    )


class ReferenceFilter:
    """The counts of PreFilter, which a trial may change, and the verdict of Filter."""

    def __init__(self, pod: Pod, nodes: Sequence[Node], pods: Sequence[Pod]) -> None:
        self.pod = pod
        self.constraints = constraints_of(pod, "DoNotSchedule")
        self.counts: list[dict[str, int]] = [{} for _ in self.constraints]
        for node in nodes:
            if not self._carries_all_keys(node):
                continue
            for constraint, counts in zip(self.constraints, self.counts, strict=True):
                if is_included(constraint, pod, node):
                    value = labels_of(node)[constraint.topology_key]
                    found = pods_counted_on(node, pods, pod, selector_for(constraint, pod))
                    counts[value] = counts.get(value, 0) + found

    def shift(self, other: Pod, node: Node, delta: int) -> None:
        if other.metadata.namespace != self.pod.metadata.namespace:
            return
        if not self._carries_all_keys(node):
            return
        for constraint, counts in zip(self.constraints, self.counts, strict=True):
            matches = selector_for(constraint, self.pod).matches(other.metadata.labels)
            if matches and is_included(constraint, self.pod, node):
                counts[labels_of(node)[constraint.topology_key]] += delta

    def verdict(self, node: Node) -> str:
        """`unlabelled`, `skewed` or nothing."""
        for constraint, counts in zip(self.constraints, self.counts, strict=True):
            value = labels_of(node).get(constraint.topology_key)
            if value is None:
                return "unlabelled"
            wanted = 1 if constraint.min_domains is None else constraint.min_domains
            lowest = min(counts.values(), default=0) if len(counts) >= wanted else 0
            own = selector_for(constraint, self.pod).matches(self.pod.metadata.labels)
            if counts.get(value, 0) + own - lowest > constraint.max_skew:
                return "skewed"
        return ""

    def _carries_all_keys(self, node: Node) -> bool:
        return all(c.topology_key in labels_of(node) for c in self.constraints)


def reference_scores(
    pod: Pod,
    constraints: Sequence[tuple[TopologySpreadConstraint, Selector]],
    nodes: Sequence[Node],
    feasible: Sequence[Node],
    pods: Sequence[Pod],
    *,
    needs_all_keys: bool,
) -> tuple[dict[str, int], dict[str, int]]:
    """(raw, normalized) by node name."""

    def carries(node: Node) -> bool:
        return all(c.topology_key in labels_of(node) for c, _ in constraints)

    ignored = {n.metadata.name for n in feasible if needs_all_keys and not carries(n)}
    ranked = [n for n in feasible if n.metadata.name not in ignored]
    totals: list[dict[str, int]] = []
    weights: list[float] = []
    for constraint, selector in constraints:
        key = constraint.topology_key
        counts = {labels_of(n).get(key, ""): 0 for n in ranked}
        for node in nodes:
            value = labels_of(node).get(key, "")
            counted = carries(node) or not needs_all_keys
            if counted and value in counts and is_included(constraint, pod, node):
                counts[value] += pods_counted_on(node, pods, pod, selector)
        totals.append(counts)
        weights.append(go_log((len(ranked) if key == HOSTNAME else len(counts)) + 2))
    raw: dict[str, int] = {}
    for node in feasible:
        points = 0.0
        for (constraint, selector), counts, weight in zip(
            constraints, totals, weights, strict=True
        ):
            domain = labels_of(node).get(constraint.topology_key)
            if domain is None or node.metadata.name in ignored:
                continue
            count = counts[domain]
            if constraint.topology_key == HOSTNAME:
                count = pods_counted_on(node, pods, pod, selector)
            points += float(count) * weight + float(constraint.max_skew - 1)
        raw[node.metadata.name] = int(points) + (points - int(points) >= 0.5)
    highest = max([0, *(raw[n.metadata.name] for n in ranked)])
    lowest = min((raw[n.metadata.name] for n in ranked), default=0)
    return raw, {
        name: 0
        if name in ignored
        else 100 * (highest + lowest - score) // highest
        if highest
        else 100
        for name, score in raw.items()
    }
