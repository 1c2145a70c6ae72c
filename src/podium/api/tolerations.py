"""Which taints a pod puts up with.

One rule serves the hard filter, the count of `PreferNoSchedule` taints in scoring and the
toleration that lets a pod onto a cordoned node, so that all of them agree on what an empty key, an
empty effect or an unknown operator means (`staging/src/k8s.io/api/core/v1/toleration.go`).
`tolerationSeconds` is about eviction and plays no part.
"""

import re
from collections.abc import Collection, Iterable

from podium.api.arithmetic import parse_int
from podium.api.node import Taint
from podium.api.pod import Toleration

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"

HARD_EFFECTS = frozenset((NO_SCHEDULE, NO_EXECUTE))
"""The effects that keep a pod off a node."""

# No plus sign, no leading zeros and no minus zero.
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def tolerates(
    toleration: Toleration, key: str, value: str, effect: str, *, comparison: bool = False
) -> bool:
    """Whether the toleration covers the taint (key, value, effect).

    `comparison` is the feature gate TaintTolerationComparisonOperators: without it, `Lt` and `Gt`
    cover nothing.
    """
    if toleration.effect and toleration.effect != effect:
        return False
    if toleration.key and toleration.key != key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == value
        case "Exists":
            return True
        case "Lt" | "Gt" if comparison:
            return _compares(toleration.operator, value, toleration.value)
        case _:
            return False


def tolerated(
    tolerations: Iterable[Toleration] | None,
    key: str,
    value: str,
    effect: str,
    *,
    comparison: bool = False,
) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(
        tolerates(toleration, key, value, effect, comparison=comparison)
        for toleration in tolerations or ()
    )


def untolerated(
    taints: Iterable[Taint] | None,
    tolerations: Iterable[Toleration] | None,
    effects: Collection[str] = HARD_EFFECTS,
    *,
    comparison: bool = False,
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers."""
    given = tuple(tolerations or ())
    for taint in taints or ():
        if taint.effect in effects and not tolerated(
            given, taint.key, taint.value, taint.effect, comparison=comparison
        ):
            return taint
    return None


def _compares(operator: str, taint_value: str, bound: str) -> bool:
    left, right = _canonical_integer(taint_value), _canonical_integer(bound)
    if left is None or right is None:
        return False
    return left < right if operator == "Lt" else left > right


def _canonical_integer(text: str) -> int | None:
    return parse_int(text) if _CANONICAL_INTEGER.fullmatch(text) else None
