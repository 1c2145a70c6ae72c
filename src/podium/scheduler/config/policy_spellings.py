"""A Policy in today's spelling: names that articles print for the registered ones.

Old texts name predicates after Go's constants (`CheckNodeConditionPred`), after Go's functions
(`PodFitsHost`) or by the half of a group. Contract: a name is respelled only without an argument,
since with one any name is a custom predicate or priority.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from podium.scheduler.config.findings import Finding, old_spelling
from podium.scheduler.config.plugin_args import UtilizationShapePoint
from podium.scheduler.config.policy_names import OLD_PREDICATES, RATIO_PRIORITY
from podium.scheduler.config.policy_types import (
    Policy,
    PredicatePolicy,
    PriorityArgument,
    PriorityPolicy,
    RatioArgument,
)

_RATIO: Final = "RequestedToCapacityRatio"
_SHAPE: Final = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))


def respell_policy(policy: Policy) -> tuple[Policy, list[Finding]]:
    """The Policy with the names that 1.22 took, and what was not written so."""
    found: list[Finding] = []
    predicates, priorities = policy.predicates, policy.priorities
    if predicates is not None:
        predicates = tuple(_predicates(predicates, found))
    if priorities is not None:
        priorities = tuple(_priority(each, i, found) for i, each in enumerate(priorities))
    return replace(policy, predicates=predicates, priorities=priorities), found


def _predicates(
    written: tuple[PredicatePolicy, ...], found: list[Finding]
) -> Iterator[PredicatePolicy]:
    for i, predicate in enumerate(written):
        today = OLD_PREDICATES.get(predicate.name) if predicate.argument is None else None
        if today is None:
            yield predicate
            continue
        at = f"predicates[{i}].name"
        found.append(old_spelling(at, predicate.name, " and ".join(today)))
        yield from (replace(predicate, name=name) for name in today)


def _priority(priority: PriorityPolicy, index: int, found: list[Finding]) -> PriorityPolicy:
    if priority.name != RATIO_PRIORITY or priority.argument is not None:
        return priority
    today = f"{_RATIO} with requestedToCapacityRatioArguments"
    found.append(old_spelling(f"priorities[{index}].name", priority.name, today))
    shape = RatioArgument(shape=_SHAPE)
    argument = PriorityArgument(requested_to_capacity_ratio_arguments=shape)
    return replace(priority, name=_RATIO, argument=argument)
