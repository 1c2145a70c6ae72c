"""Disruption budgets: how many pods may go, worked out from those that are healthy.

A budget in percent, or of what may be missing, is about the pods that the controllers behind the
selected pods want, however many there are; a plain `minAvailable` is about those that there are
(`pkg/controller/disruption/disruption.go`).

Worked example: a deployment of 10, all ready, `maxUnavailable: 25%` (rounded up: 3): 7 must stay
healthy, so 3 may go. `minAvailable: 25%` of the same rounds up to 3 that must stay, so 7 may go.

The arithmetic of "a number or a percentage" decides as well how many pods a roll-out may take away
or add.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PodDisruptionBudgetSpec
from podium.kubernetes.rules.labels import selector_or_nothing


class NoPercentage(ValueError):
    """A text that stands for a number of pods and is no percentage; API servers refuse it."""


def scale_amount(
    written: int | str | None, total: int, *, rounds_up: bool, default: int = 0
) -> int:
    """A number as it is, a percentage of the total rounded as asked. Raises NoPercentage.

    >>> scale_amount("25%", 10, rounds_up=True), scale_amount("25%", 10, rounds_up=False)
    (3, 2)
    """
    if written is None:
        return default
    if isinstance(written, int):
        return written
    digits = written.removesuffix("%")
    if digits == written or not digits.isdecimal():
        raise NoPercentage(written)
    share = int(digits) * total / 100
    return math.ceil(share) if rounds_up else math.floor(share)


class Scaled(NamedTuple):
    """What says how many pods there are to be, for all owners that it is behind."""

    kind: str
    name: str
    wanted: int


Scale = Callable[[str, OwnerReference], Scaled | None]
"""Who is behind an owner in a namespace: a deployment behind each of its replica sets; None if
it is not known."""


def guards(budget: PodDisruptionBudget, pod: ObjectMeta) -> bool:
    """Whether an eviction of the pod has to ask the budget."""
    if budget.namespace != pod.namespace:
        return False
    return selector_or_nothing(budget.spec.selector).matches(pod.labels)


class Guarded(NamedTuple):
    """The pods that a budget selects and that have not ended, in numbers."""

    namespace: str
    number: int
    owners: Mapping[OwnerReference, int]
    """How many of them a controller has."""
    healthy: int
    """How many of them are ready."""


class Disruptions(NamedTuple):
    expected: int
    """Pods that there should be."""
    desired: int
    """Pods of them that must be healthy."""
    allowed: int
    """Pods that may go."""


def count_disruptions(spec: PodDisruptionBudgetSpec, pods: Guarded, scale: Scale) -> Disruptions:
    """upstream: where the counts cannot be worked out, nothing may go."""
    try:
        expected, desired = _expectation(spec, pods, scale)
    except NoPercentage:
        return Disruptions(0, 0, 0)
    return Disruptions(expected, desired, max(0, pods.healthy - desired) if expected > 0 else 0)


def _expectation(spec: PodDisruptionBudgetSpec, pods: Guarded, scale: Scale) -> tuple[int, int]:
    if spec.max_unavailable is not None:
        expected = _count_expected(pods, scale)
        return expected, max(
            0, expected - scale_amount(spec.max_unavailable, expected, rounds_up=True)
        )
    if isinstance(spec.min_available, int):
        return pods.number, spec.min_available
    expected = _count_expected(pods, scale) if spec.min_available is not None else 0
    return expected, scale_amount(spec.min_available, expected, rounds_up=True)


def _count_expected(pods: Guarded, scale: Scale) -> int:
    """What the controllers of the pods want together.

    upstream: pods without a controller are not expected. Those of a controller whose scale is not
    known count as themselves; upstream, which can ask for any scale, lets none of them go.
    """
    unknown = 0
    known: set[Scaled] = set()
    for owner, number in pods.owners.items():
        found = scale(pods.namespace, owner)
        if found is None:
            unknown += number
        else:
            known.add(found)
    return unknown + sum(each.wanted for each in known)
