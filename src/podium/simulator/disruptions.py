"""How many pods a disruption budget has left to give, for budgets that nobody has counted yet.

A controller keeps `status.disruptionsAllowed` up to date, and preemption reads nothing else. For a
budget from a manifest it is worked out here over the pods that run in the input, all of which
count as healthy.

Worked example: five pods run. `minAvailable: 4` allows 1, `minAvailable: 50%` (rounded up: 3)
allows 2, `maxUnavailable: 30%` (rounded up: 2) allows 2.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from podium.api.labels import SelectorError, selector_of
from podium.api.pod import Pod
from podium.api.workloads import PodDisruptionBudget
from podium.simulator.admission import stored


def count_disruptions(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """The budget with its status filled in, unless a cluster has done that already."""
    if stored(budget) or budget.status.expected_pods or budget.status.disruptions_allowed:
        return budget
    try:
        selector = selector_of(budget.spec.selector)
    except SelectorError:
        return budget
    expected = sum(
        pod.metadata.namespace == budget.metadata.namespace
        and selector.matches(pod.metadata.labels)
        for pod in pods
    )
    desired = _desired(budget, expected)
    status = replace(
        budget.status,
        expected_pods=expected,
        current_healthy=expected,
        desired_healthy=desired,
        disruptions_allowed=max(0, expected - desired),
    )
    return replace(budget, status=status)


def _desired(budget: PodDisruptionBudget, expected: int) -> int:
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(0, expected - _scaled(spec.max_unavailable, expected))
    return _scaled(spec.min_available, expected) if spec.min_available is not None else 0


def _scaled(written: int | str, expected: int) -> int:
    """A number as it is, a percentage of the expected pods rounded up."""
    if isinstance(written, int):
        return written
    text = written.removesuffix("%")
    if not text.isdigit():
        return 0
    return -(-int(text) * expected // 100) if written.endswith("%") else int(text)
