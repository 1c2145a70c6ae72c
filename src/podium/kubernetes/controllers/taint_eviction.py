"""How long pods may stay on nodes with taints that expel.

A taint that no toleration covers makes a pod leave at once. Where all are covered, the shortest of
the tolerations that cover them decides (`pkg/controller/tainteviction/taint_eviction.go`).
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.rules.tolerations import COMPARISON_ALLOWED, NO_EXECUTE, tolerates


def expelling(taints: Sequence[Taint] | None) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints or () if taint.effect == NO_EXECUTE)


def stay_s(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> float | None:
    """How long a pod may stay; None is for ever, 0 not at all."""
    shortest: float | None = None
    for taint in taints:
        triple = taint.key, taint.value, taint.effect
        covering = next(
            (t for t in tolerations if tolerates(t, *triple, comparison=COMPARISON_ALLOWED)), None
        )
        if covering is None:
            return 0.0
        seconds = covering.toleration_seconds
        if seconds is not None:
            bounded = float(max(0, seconds))
            shortest = bounded if shortest is None else min(shortest, bounded)
    return shortest
