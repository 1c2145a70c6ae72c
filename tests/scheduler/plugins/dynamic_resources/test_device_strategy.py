"""`scoringStrategy`: which of several devices and nodes a claim gets."""

from typing import Any

import pytest
from support.scheduler.plugins.device_builders import (
    allocated,
    claiming_pod,
    device,
    exactly,
    first_of,
    make_claim,
    make_class,
    make_slice,
)
from support.scheduler.plugins.device_builders import alternative as or_else

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.plugins.dynamic_resources import DynamicResources
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


# --- locality -----------------------------------------------------------------------------------

OTHER_DRIVER = "nic.example.com"


def near(*locality: dict[str, Any], type_: str | None = None) -> dict[str, Any]:
    strategy: dict[str, Any] = {"locality": list(locality)}
    return {"DynamicResources": {"scoringStrategy": strategy | ({"type": type_} if type_ else {})}}


def numa(name: str, node: int, **more: Any) -> Any:
    return device(name, {"numa": node}, **more)


def wired(node: str, gpus: list[int], nics: list[int]) -> list[Any]:
    """A node's GPUs and network cards by the NUMA node that they are on."""
    cards = [numa(f"{node}-gpu{i}", at) for i, at in enumerate(gpus)]
    nets = [numa(f"{node}-nic{i}", at) for i, at in enumerate(nics)]
    return [
        make_slice(f"{node}-gpus", cards, node=node, pool=f"{node}-gpus"),
        make_slice(f"{node}-nics", nets, node=node, pool=f"{node}-nics", driver=OTHER_DRIVER),
    ]


def of_driver(driver: str) -> str:
    return f'device.driver == "{driver}"'


GPUS = ("gpu.example.com", OTHER_DRIVER)


def job_claim(gpus: int, name: str = "mine") -> ResourceClaim:
    return make_claim(
        name, exactly("gpu", gpus, of_driver(GPUS[0])), exactly("nic", 1, of_driver(GPUS[1]))
    )


def near_cluster(args: dict[str, Any], *objects: Any, labels: Any = None) -> FakeCluster:
    nodes = [make_node(name, labels=(labels or {}).get(name, {})) for name in NODES]
    return FakeCluster(*nodes, make_class(), *objects, args=args)


def test_the_devices_of_a_pod_come_from_one_place() -> None:
    there = near_cluster(
        near({"attribute": "numa"}), *wired("a", [0, 0, 1, 1, 1], [1, 0]), job_claim(3)
    )
    there.put(claiming_pod("pod", "mine"))
    attempt = there.attempt()
    assert attempt is not None
    assert attempt.binding is not None
    plugin = there.plugin("DynamicResources")
    assert isinstance(plugin, DynamicResources)
    claims: Any = plugin.reserved(attempt.binding.cycle)["claims"]
    taken = [each["device"] for each in claims["default/mine"]]
    assert taken == ["a-gpu2", "a-gpu3", "a-gpu4", "a-nic0"]


def test_the_smallest_place_that_is_large_enough_is_used_up_first() -> None:
    there = near_cluster(near({"attribute": "numa"}), *wired("a", [0, 0, 0, 1, 1], [1, 0]))
    assert placed(there, make_claim("mine", exactly("r", 2, of_driver(GPUS[0])))) == (
        "a",
        ["a-gpu3", "a-gpu4"],
    )


def test_nodes_are_told_apart_by_how_many_pairs_of_devices_lie_together() -> None:
    there = near_cluster(
        near({"attribute": "numa"}),
        *wired("a", [0, 1], [0]),
        *wired("b", [0, 1, 1], [1]),
        *wired("c", [0, 1, 1], [0]),
        job_claim(2),
    )
    decision = there.schedule(claiming_pod("web", "mine"))
    assert_placed(decision, on="b")
    # a: gpu and nic on NUMA node 0, one pair of three; b: all three; c: two GPUs
    assert scores_of(decision, "DynamicResources") == {"a": 33, "b": 100, "c": 33}


def test_devices_without_a_place_lie_together_with_nothing() -> None:
    nowhere = [make_slice("c", ["c0", "c1"], node="c")]
    there = near_cluster(
        near({"attribute": "numa"}),
        *wired("a", [0, 0], [0]),
        *nowhere,
        make_claim("mine", exactly("r", 2, of_driver(GPUS[0]))),
    )
    decision = there.schedule(claiming_pod("web", "mine"))
    assert scores_of(decision, "DynamicResources") == {"a": 100, "c": 0}


def test_a_place_is_a_wish_and_no_condition() -> None:
    there = near_cluster(near({"attribute": "numa"}), *wired("a", [0, 1, 2], [3]), job_claim(3))
    assert_placed(there.schedule(claiming_pod("web", "mine")), on="a")


BLOCK = "network.example.com/block"
ZONE = "topology.kubernetes.io/zone"


def member(name: str, claim: str, **more: Any) -> Any:
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "train",
        "uid": "uid-train",
        "controller": True,
    }
    return claiming_pod(name, claim, metadata={"ownerReferences": [owner]}, **more)


def test_pods_of_a_workload_go_near_those_that_have_devices_already() -> None:
    labels = {
        "a": {BLOCK: "1", ZONE: "x"},
        "b": {BLOCK: "2", ZONE: "x"},
        "c": {BLOCK: "3", ZONE: "y"},
    }
    there = near_cluster(
        near({"nodeLabel": BLOCK, "weight": 3}, {"nodeLabel": ZONE}),
        *(make_slice(name, [f"{name}0", f"{name}1"], node=name) for name in NODES),
        make_claim("first", exactly("r"), status=allocated("r=a/a0", users=["first"])),
        make_claim("mine", exactly("r")),
        member("first", "first", node="a"),
        labels=labels,
    )
    decision = there.schedule(member("second", "mine"))
    assert_placed(decision, on="a")
    assert scores_of(decision, "DynamicResources") == {"a": 100, "b": 25, "c": 0}
    there.put(make_claim("alone", exactly("r")))
    stranger = there.schedule(claiming_pod("stranger", "alone"))
    assert set(scores_of(stranger, "DynamicResources").values()) == {100}


def test_places_and_a_type_count_by_their_weights() -> None:
    there = near_cluster(
        near({"attribute": "numa", "weight": 3}, type_=LEAST),
        *wired("a", [0, 0, 0, 0], [1]),
        *wired("b", [0, 1], [0]),
        make_claim("mine", exactly("r", 2, of_driver(GPUS[0]))),
    )
    decision = there.schedule(claiming_pod("web", "mine"))
    # a: half of its GPUs taken, all together; b: all of them, apart
    assert scores_of(decision, "DynamicResources") == {"a": (50 + 3 * 100 + 2) // 4, "b": 0}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, r"locality\[0\]: Required value: exactly one of attribute and nodeLabel"),
        ({"attribute": "a", "nodeLabel": "b"}, "exactly one of attribute and nodeLabel"),
        ({"nodeLabel": "not a label"}, r"locality\[0\]\.nodeLabel: Invalid value"),
        ({"attribute": "a", "weight": 101}, r"locality\[0\]\.weight: Invalid value"),
    ],
)
def test_each_place_is_one_attribute_or_one_label(entry: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        near_cluster(near(entry))
