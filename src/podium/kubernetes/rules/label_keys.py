"""`matchLabelKeys` and `mismatchLabelKeys`, merged into the selectors they belong to.

The server does this when a pod is created, and the scheduler relies on it: a key stands for "the
same value as mine" (or "another value than mine") at that moment. A key that the pod has no label
for is left out, and so is everything next to an absent selector.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.labels import IN, NOT_IN

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def merge_label_keys(spec: JsonObject, labels: Mapping[str, str]) -> None:
    """Extend the selectors in the spec of a new pod that has these labels."""
    if spec.get("affinity"):
        for term in _affinity_terms(spec["affinity"]):
            _extend(term, "matchLabelKeys", IN, labels)
            _extend(term, "mismatchLabelKeys", NOT_IN, labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _extend(constraint, "matchLabelKeys", IN, labels)


def _affinity_terms(affinity: JsonObject) -> Iterator[JsonObject]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for weighted in terms.get(_PREFERRED) or ():
            if weighted.get("podAffinityTerm"):
                yield weighted["podAffinityTerm"]
        yield from terms.get(_REQUIRED) or ()


def _extend(holder: JsonObject, field: str, operator: str, labels: Mapping[str, str]) -> None:
    keys, selector = holder.get(field), holder.get("labelSelector")
    if not keys or selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]} for key in keys if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]
