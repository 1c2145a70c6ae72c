"""Pod affinity and anti-affinity terms, ready to be matched and counted.

A compiled term stands for itself in caches and counts: pods made from one template share equal,
hashable terms. The four groups of a pod are parsed apart from each other
(`pkg/scheduler/framework/types.go`): a bad term empties its own group only. Pods already on nodes
go on with what is left; a pending pod is refused with `parsing pod: ` and `error`.

`matchLabelKeys` and `mismatchLabelKeys` are merged into `labelSelector` when a pod is created and
are not read here.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podium.kubernetes.kinds.pod import Pod, PodAffinity, PodAffinityTerm
from podium.kubernetes.rules.field_errors import aggregate
from podium.kubernetes.rules.labels import Selector, SelectorError, selector_of


class AffinityTerm(NamedTuple):
    """Which pods a term means, and the topology in which it means them."""

    namespaces: frozenset[str]
    selector: Selector
    namespace_selector: Selector
    topology_key: str

    def matches(
        self,
        namespace: str,
        labels: Mapping[str, str] | None,
        namespace_labels: Mapping[str, str] | None,
    ) -> bool:
        """Whether a pod with these labels in this namespace is meant."""
        return (
            namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        ) and self.selector.matches(labels)


WeightedTerm = tuple[int, AffinityTerm]


class PodAffinityTerms(NamedTuple):
    """All (anti-)affinity of one pod."""

    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti: tuple[WeightedTerm, ...] = ()
    error: str | None = None
    has_affinity: bool = False
    """Whether the pod has a podAffinity or podAntiAffinity object, be it empty."""


_NONE = PodAffinityTerms()


def parse_pod_affinity(pod: Pod) -> PodAffinityTerms:
    """Compile the pod's terms; what cannot be parsed is told in `error`, never raised."""
    written = pod.spec.affinity
    if written is None or (written.pod_affinity is None and written.pod_anti_affinity is None):
        return _NONE
    affinity = written.pod_affinity or PodAffinity()
    anti = written.pod_anti_affinity or PodAffinity()
    namespace = pod.metadata.namespace
    problems: list[str] = []

    def group(name: str, terms: Iterable[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
        try:
            return tuple(_compile(term, namespace) for term in terms)
        except SelectorError as error:
            problems.append(f"{name}: {error}")
            return ()

    def parse_required(name: str, side: PodAffinity) -> tuple[AffinityTerm, ...]:
        return group(name, side.required_during_scheduling_ignored_during_execution or ())

    def parse_preferred(name: str, side: PodAffinity) -> tuple[WeightedTerm, ...]:
        entries = side.preferred_during_scheduling_ignored_during_execution or ()
        terms = group(name, (entry.pod_affinity_term for entry in entries))
        return tuple((entry.weight, term) for entry, term in zip(entries, terms, strict=False))

    parsed = PodAffinityTerms(
        required_affinity=parse_required("requiredAffinityTerms", affinity),
        required_anti=parse_required("requiredAntiAffinityTerms", anti),
        preferred_affinity=parse_preferred("preferredAffinityTerms", affinity),
        preferred_anti=parse_preferred("preferredAntiAffinityTerms", anti),
        has_affinity=True,
    )
    return parsed._replace(error=aggregate(problems)) if problems else parsed


def _compile(term: PodAffinityTerm, namespace: str) -> AffinityTerm:
    selector = selector_of(term.label_selector)
    listed = frozenset(term.namespaces or ())
    if not listed and term.namespace_selector is None:
        listed = frozenset((namespace,))
    return AffinityTerm(listed, selector, selector_of(term.namespace_selector), term.topology_key)
