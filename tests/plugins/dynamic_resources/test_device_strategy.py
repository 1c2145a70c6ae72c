"""`scoringStrategy`: which of several devices and nodes a claim gets."""

from typing import Any

import pytest
from support.plugins.device_builders import (
    allocated,
    claiming_pod,
    device,
    exactly,
    first_of,
    make_claim,
    make_class,
    make_slice,
)
from support.plugins.device_builders import alternative as or_else

from podium.config.errors import ConfigurationError
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.plugins.dynamic_resources import DynamicResources
from podium.testing import FakeCluster, assert_placed, make_node, scores_of

MOST, LEAST = "MostAllocated", "LeastAllocated"
SHARED: dict[str, Any] = {"allowMultipleAllocations": True}
NODES = ("a", "b", "c")


def cluster(strategy: str | None, *objects: Any) -> FakeCluster:
    args = {"DynamicResources": {"scoringStrategy": {"type": strategy}}} if strategy else None
    return FakeCluster(*map(make_node, NODES), make_class(), *objects, args=args)


def placed(there: FakeCluster, claim: ResourceClaim) -> tuple[str, list[str]]:
    """The node that a pod with the claim gets, and the devices."""
    name = claim.metadata.name
    there.put(claim, claiming_pod(f"pod-{name}", name))
    attempt = there.attempt()
    assert attempt is not None
    assert attempt.binding is not None
    plugin = there.plugin("DynamicResources")
    assert isinstance(plugin, DynamicResources)
    claims: Any = plugin.reserved(attempt.binding.cycle)["claims"]
    return attempt.binding.node_name, [each["device"] for each in claims[f"default/{name}"]]


def held(node: str, name: str) -> ResourceClaim:
    return make_claim(
        f"held-{name}", exactly("r"), status=allocated(f"r={node}/{name}", users=["other"])
    )


def eight(node: str) -> Any:
    return make_slice(node, [f"{node}{n}" for n in range(8)], node=node)


CLUSTER = [*map(eight, NODES), held("b", "b0"), held("b", "b1"), held("c", "c0")]


@pytest.mark.parametrize(
    ("strategy", "node", "scores"),
    [
        (MOST, "b", {"a": 12, "b": 38, "c": 25}),
        (LEAST, "a", {"a": 88, "b": 62, "c": 75}),
    ],
)
def test_nodes_are_told_apart_by_how_many_devices_are_left(
    strategy: str, node: str, scores: dict[str, int]
) -> None:
    there = cluster(strategy, *CLUSTER, make_claim("mine", exactly("r")))
    decision = there.schedule(claiming_pod("web", "mine"))
    assert_placed(decision, on=node)
    assert scores_of(decision, "DynamicResources") == scores


def test_without_a_strategy_devices_do_not_count() -> None:
    there = cluster(None, *CLUSTER, make_claim("mine", exactly("r")))
    decision = there.schedule(claiming_pod("web", "mine"))
    assert set(scores_of(decision, "DynamicResources").values()) == {0}


def shared_cards(strategy: str | None) -> FakeCluster:
    cards = [
        device("empty", capacity={"memory": "40Gi"}, **SHARED),
        device("used", capacity={"memory": "40Gi"}, **SHARED),
        device("large", capacity={"memory": "80Gi"}, **SHARED),
    ]
    consumed = {"shareID": "uid-share", "consumedCapacity": {"memory": "10Gi"}}
    status = allocated("r=a/used", users=["other"])
    status["allocation"]["devices"]["results"][0].update(consumed)
    there = make_claim("other", memory("10Gi"), status=status)
    return cluster(strategy, make_slice("a", cards, node="a"), there)


def memory(amount: str, name: str = "r") -> dict[str, Any]:
    return exactly(name, capacity={"requests": {"memory": amount}})


@pytest.mark.parametrize(
    ("strategy", "devices"),
    [(None, ["empty"]), (MOST, ["used"]), (LEAST, ["large"])],
)
def test_a_share_comes_from_the_card_that_the_strategy_prefers(
    strategy: str | None, devices: list[str]
) -> None:
    assert placed(shared_cards(strategy), make_claim("mine", memory("8Gi"))) == ("a", devices)


def test_a_card_that_is_preferred_and_too_full_is_passed_over() -> None:
    assert placed(shared_cards(MOST), make_claim("mine", memory("35Gi")))[1] == ["empty"]


@pytest.mark.parametrize(("strategy", "devices"), [(MOST, ["small"]), (LEAST, ["large"])])
def test_whole_cards_are_chosen_by_what_is_asked_of_their_capacity(
    strategy: str, devices: list[str]
) -> None:
    cards = [
        device("large", capacity={"memory": "80Gi"}),
        device("small", capacity={"memory": "40Gi"}),
    ]
    there = cluster(strategy, make_slice("a", cards, node="a"))
    assert placed(there, make_claim("mine", memory("16Gi"))) == ("a", devices)


@pytest.mark.parametrize(("strategy", "device_"), [(MOST, "y1"), (LEAST, "x0")])
def test_partitions_of_a_card_in_use_keep_the_others_whole(strategy: str, device_: str) -> None:
    counters = [{"name": card, "counters": {"slots": {"value": "4"}}} for card in "xy"]
    parts = [
        device(
            f"{card}{n}",
            consumesCounters=[{"counterSet": card, "counters": {"slots": {"value": "1"}}}],
        )
        for card in "xy"
        for n in range(4)
    ]
    slices = (
        make_slice("s1", node="a", pool="p", count=2, sharedCounters=counters),
        make_slice("s2", parts, node="a", pool="p", count=2),
    )
    taken = make_claim("other", exactly("r"), status=allocated("r=p/y0", users=["other"]))
    there = cluster(strategy, *slices, taken)
    assert placed(there, make_claim("mine", exactly("r"))) == ("a", [device_])


def test_alternatives_that_were_asked_for_first_outweigh_the_strategy() -> None:
    wanted = first_of(
        "r",
        or_else("big", 1, f"device.attributes['{'gpu.example.com'}'].size == 2"),
        or_else("any", 1),
    )
    big = make_slice("a", [device("a0", {"size": 2}), device("a1", {"size": 1})], node="a")
    small = make_slice("b", [device(f"b{n}", {"size": 1}) for n in range(2)], node="b")
    there = cluster(MOST, big, small, held("b", "b1"), make_claim("mine", wanted))
    assert_placed(there.schedule(claiming_pod("web", "mine")), on="a")


def test_a_strategy_must_be_one_of_the_two() -> None:
    with pytest.raises(ConfigurationError, match=r"scoringStrategy\.type: Unsupported value"):
        cluster("RequestedToCapacityRatio")
