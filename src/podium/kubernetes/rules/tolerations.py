"""Which taints a pod puts up with.

One rule serves the hard filter, the count of `PreferNoSchedule` taints in scoring and the
toleration that lets a pod onto a cordoned node, so that all of them agree on what an empty key, an
empty effect or an unknown operator means (`staging/src/k8s.io/api/core/v1/toleration.go`).
`tolerationSeconds` is about eviction and plays no part.
"""

import re
from collections.abc import Collection, Iterable

from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.kinds.pod import Toleration

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"

CONDITION_KEYS = "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"
"""Begin the taints that controllers put on nodes that are not well, and put back if one takes them
off."""
HARD_EFFECTS = frozenset((NO_SCHEDULE, NO_EXECUTE))
"""The effects that keep a pod off a node."""

# No plus sign, no leading zeros and no minus zero.
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


COMPARISON_ALLOWED = True
"""`comparison` for those who read what a server has stored: it stores such operators only where the
gate is open."""


def tolerates(
    toleration: Toleration, key: str, value: str, effect: str, *, comparison: bool
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


def is_tolerated(
    tolerations: Iterable[Toleration] | None,
    key: str,
    value: str,
    effect: str,
    *,
    comparison: bool,
) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(
        tolerates(toleration, key, value, effect, comparison=comparison)
        for toleration in tolerations or ()
    )


class TolerationIndex:
    """Many tolerations, looked up by taint instead of one after the other.

    Answers as `is_tolerated` does. A pod can have thousands of tolerations and a cluster thousands
    of taints; here a taint takes four looks, whatever the number of tolerations.
    """

    __slots__ = ("_by_key_and_effect",)

    def __init__(self, tolerations: Iterable[Toleration] | None, *, comparison: bool) -> None:
        self._by_key_and_effect: dict[tuple[str, str], _Covered] = {}
        for toleration in tolerations or ():
            key = toleration.key, toleration.effect
            covered = self._by_key_and_effect.get(key)
            if covered is None:
                covered = self._by_key_and_effect[key] = _Covered()
            covered.add(toleration, comparison=comparison)

    def tolerates(self, key: str, value: str, effect: str) -> bool:
        """Whether any of the tolerations covers the taint."""
        by_key_and_effect = self._by_key_and_effect
        for named in (key, effect), (key, ""), ("", effect), ("", ""):
            covered = by_key_and_effect.get(named)
            if covered is not None and covered.holds(value):
                return True
        return False


class _Covered:
    """The values that tolerations of one key and effect cover."""

    __slots__ = ("_above", "_all", "_below", "_values")

    def __init__(self) -> None:
        self._all = False
        self._values: set[str] = set()
        self._below: int | None = None
        self._above: int | None = None

    def add(self, toleration: Toleration, *, comparison: bool) -> None:
        match toleration.operator:
            case "" | "Equal":
                self._values.add(toleration.value)
            case "Exists":
                self._all = True
            case "Lt" | "Gt" if comparison:
                bound = _canonical_integer(toleration.value)
                if bound is None:
                    return
                # Of several bounds the widest decides alone.
                if toleration.operator == "Lt":
                    self._below = bound if self._below is None else max(self._below, bound)
                else:
                    self._above = bound if self._above is None else min(self._above, bound)

    def holds(self, value: str) -> bool:
        if self._all or value in self._values:
            return True
        if self._below is None and self._above is None:
            return False
        number = _canonical_integer(value)
        if number is None:
            return False
        return (self._below is not None and number < self._below) or (
            self._above is not None and number > self._above
        )


def find_untolerated_taint(
    taints: Iterable[Taint] | None,
    tolerations: Iterable[Toleration] | None,
    effects: Collection[str] = HARD_EFFECTS,
    *,
    comparison: bool,
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers."""
    if not taints:
        return None
    index = TolerationIndex(tolerations, comparison=comparison)
    for taint in taints:
        if taint.effect in effects and not index.tolerates(taint.key, taint.value, taint.effect):
            return taint
    return None


def describe_taint(key: str, value: str, effect: str) -> str:
    """As kubectl writes it: `key=value:effect`."""
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def toleration_of(key: str, value: str, effect: str) -> Toleration:
    """The toleration that covers a taint; one without a value is covered whatever its value."""
    if not value:
        return Toleration(key=key, operator="Exists", effect=effect)
    return Toleration(key=key, operator="Equal", value=value, effect=effect)


def _compares(operator: str, taint_value: str, bound: str) -> bool:
    left, right = _canonical_integer(taint_value), _canonical_integer(bound)
    if left is None or right is None:
        return False
    return left < right if operator == "Lt" else left > right


def _canonical_integer(text: str) -> int | None:
    return parse_int(text) if _CANONICAL_INTEGER.fullmatch(text) else None
