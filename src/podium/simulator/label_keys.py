"""`matchLabelKeys` and `mismatchLabelKeys`, merged into the selectors they belong to.

The server does this when a pod is created, and the scheduler relies on it: a key stands for "the
same value as mine" (or "another value than mine") at that moment. A key that the pod has no label
for is left out, and so is everything next to an absent selector.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from podium.api.labels import IN, NOT_IN
from podium.api.meta import LabelSelector, LabelSelectorRequirement
from podium.api.pod import Affinity, PodAffinity, PodAffinityTerm, PodSpec

Labels = Mapping[str, str]


def merge_label_keys(spec: PodSpec, labels: Labels) -> PodSpec:
    constraints = spec.topology_spread_constraints
    if constraints and any(constraint.match_label_keys for constraint in constraints):
        merged = tuple(
            replace(c, label_selector=_merged(c.label_selector, labels, c.match_label_keys))
            for c in constraints
        )
        spec = replace(spec, topology_spread_constraints=merged)
    affinity = spec.affinity
    if affinity is None or not (affinity.pod_affinity or affinity.pod_anti_affinity):
        return spec
    return replace(spec, affinity=_affinity(affinity, labels))


def _affinity(affinity: Affinity, labels: Labels) -> Affinity:
    return replace(
        affinity,
        pod_affinity=_side(affinity.pod_affinity, labels),
        pod_anti_affinity=_side(affinity.pod_anti_affinity, labels),
    )


def _side(side: PodAffinity | None, labels: Labels) -> PodAffinity | None:
    if side is None:
        return None
    required = side.required_during_scheduling_ignored_during_execution
    preferred = side.preferred_during_scheduling_ignored_during_execution
    return replace(
        side,
        required_during_scheduling_ignored_during_execution=required
        and tuple(_term(term, labels) for term in required),
        preferred_during_scheduling_ignored_during_execution=preferred
        and tuple(
            replace(entry, pod_affinity_term=_term(entry.pod_affinity_term, labels))
            for entry in preferred
        ),
    )


def _term(term: PodAffinityTerm, labels: Labels) -> PodAffinityTerm:
    if not term.match_label_keys and not term.mismatch_label_keys:
        return term
    selector = _merged(term.label_selector, labels, term.match_label_keys, term.mismatch_label_keys)
    return replace(term, label_selector=selector)


def _merged(
    selector: LabelSelector | None,
    labels: Labels,
    same: tuple[str, ...] | None,
    other: tuple[str, ...] | None = None,
) -> LabelSelector | None:
    if selector is None:
        return None
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for keys, operator in ((same, IN), (other, NOT_IN))
        for key in keys or ()
        if key in labels
    ]
    if not added:
        return selector
    return replace(selector, match_expressions=(*(selector.match_expressions or ()), *added))
