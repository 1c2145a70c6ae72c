"""What one attempt may put into devices: counted, the same each time, and others go on."""

import pytest
from support.scheduler.plugins.device_builders import (
    claiming_pod,
    device,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.scheduler.plugins.dynamic_resources.search_budget import (
    STEPS_PER_SECOND,
    BudgetSpent,
    SearchBudget,
)
from podium.testing import FakeCluster, make_node, make_pod

NODES = [f"n{number}" for number in range(6)]
LATE = "timed out trying to allocate devices"
ATTRIBUTES = 'device.attributes["gpu.example.com"]'


def dear(number: int) -> str:
    """A selector that is true of every device after a loop in a loop."""
    return f"{ATTRIBUTES}.all(k, {ATTRIBUTES}.all(l, {ATTRIBUTES}.size() > {number - 10}))"


def cluster_with(claim: ResourceClaim, timeout: str) -> FakeCluster:
    """Nodes with one device each, all of which differ."""
    slices = [
        make_slice(
            name,
            [device("gpu", {f"a{i}": number * 100 + i for i in range(20)})],
            node=name,
            driver="gpu.example.com",
        )
        for number, name in enumerate(NODES)
    ]
    return FakeCluster(
        *map(make_node, NODES),
        make_class(),
        *slices,
        claim,
        args={"DynamicResources": {"filterTimeout": timeout}},
    )


def dear_claim(selectors: int) -> ResourceClaim:
    return make_claim("c", exactly("r", 1, *(dear(number) for number in range(selectors))))


def try_again(cluster: FakeCluster) -> str:
    """What the next attempt comes to."""
    cluster.wait(seconds=60)
    (attempt,) = iter(cluster.attempt, None)
    return attempt.decision.chosen or attempt.decision.message or ""


def test_selectors_that_are_too_dear_for_one_attempt_fail_it_as_a_timeout() -> None:
    cluster = cluster_with(dear_claim(4), "50ms")
    decision = cluster.schedule(claiming_pod("pod", "c"))
    assert LATE in (decision.message or "")
    assert cluster.schedule(make_pod("other")).chosen


NESTED = f"{ATTRIBUTES}.all(k, {ATTRIBUTES}.all(l, %s))"


@pytest.mark.parametrize(
    "inner",
    [
        'string({attributes}.a0).matches("^(0|1|2|01)*{number}?[0-9]*$")',
        '!(string({attributes}.a0) + string({attributes}.a1) + "{number}").contains("zz")',
        'semver("1.{number}.0").isGreaterThan(semver("0.{number}.0"))',
        "!{attributes}.exists(m, {attributes}.size() < {number} - 40)",
    ],
    ids=["expressions", "texts", "versions", "never met"],
)
def test_whatever_a_selector_is_dear_by_its_attempt_ends_and_others_go_on(inner: str) -> None:
    selectors = [NESTED % inner.format(attributes=ATTRIBUTES, number=number) for number in range(8)]
    cluster = cluster_with(make_claim("c", exactly("r", 1, *selectors)), "50ms")
    decision = cluster.schedule(claiming_pod("pod", "c"))
    assert LATE in (decision.message or "")
    assert cluster.schedule(make_pod("other")).chosen


def test_what_an_attempt_has_worked_out_is_not_worked_out_again() -> None:
    cluster = cluster_with(dear_claim(4), "50ms")
    message = cluster.schedule(claiming_pod("pod", "c")).message or ""
    attempts = 1
    while LATE in message:
        message = try_again(cluster)
        attempts += 1
    assert message in NODES
    assert 1 < attempts <= len(NODES)


def test_without_a_timeout_there_is_no_budget() -> None:
    cluster = cluster_with(dear_claim(4), "0s")
    assert cluster.schedule(claiming_pod("pod", "c")).chosen in NODES


def test_a_pod_with_ordinary_claims_has_steps_enough_for_any_number_of_nodes() -> None:
    budget = SearchBudget(0.05)
    for _ in range(100_000):
        budget.begin_node()
        budget.charge(33)


def test_an_attempt_whose_steps_are_spent_begins_no_other_node() -> None:
    budget = SearchBudget(0.05)
    with pytest.raises(BudgetSpent):
        budget.charge(1_001)
    with pytest.raises(BudgetSpent):
        budget.begin_node()


def test_an_expression_is_paid_for_by_its_cost_and_compiled_once() -> None:
    budget, expression = SearchBudget(1.0), "x" * 3_000
    budget.charge_selector(expression, 0)  # 1 + 30 to evaluate, 1,000 to compile
    with pytest.raises(BudgetSpent):
        budget.charge(STEPS_PER_SECOND - 1_031 + 1)
    budget = SearchBudget(1.0)
    for _ in range(2):
        budget.charge_selector(expression, 0)
    budget.charge(STEPS_PER_SECOND - 1_031 - 31)
    with pytest.raises(BudgetSpent):
        budget.charge_selector("true", 0)
