"""Which devices the search picks: the conformance vectors and the rules behind them."""

from typing import Any

import pytest
from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    alternative,
    device,
    exactly,
    first_of,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceSlice
from podium.scheduler.plugins.dynamic_resources.allocator import NoDevices
from podium.scheduler.plugins.dynamic_resources.picks import PickRules
from podium.scheduler.plugins.dynamic_resources.requests import AllocationError
from podium.scheduler.plugins.dynamic_resources.search_budget import TimedOut
from podium.testing import make_node

AT_LEAST_1 = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0'
AT_LEAST_2 = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("2Gi")) >= 0'
AT_LEAST_4 = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("4Gi")) >= 0'
AT_LEAST_8 = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("8Gi")) >= 0'


def sized(name: str, memory: str) -> dict[str, object]:
    return device(name, capacity={"memory": memory})


def test_pools_are_tried_by_name() -> None:
    world = DeviceWorld(*(make_slice(p, ["d"], node="n") for p in ("p3", "p2", "p1")))
    assert world.picks(make_claim("c", exactly("r", 2))) == ["r=p1/d", "r=p2/d"]


def test_pools_with_binding_conditions_come_last() -> None:
    waiting = device("d", bindingConditions=["ready"], bindingFailureConditions=["broken"])
    world = DeviceWorld(
        make_slice("p1", [waiting], node="n"),
        make_slice("p2", ["d"], node="n"),
        make_slice("p3", ["d"], node="n"),
    )
    assert world.picks(make_claim("c", exactly("r", 2))) == ["r=p2/d", "r=p3/d"]


def test_binding_conditions_defer_whole_pools_only() -> None:
    waiting = device("d1", bindingConditions=["ready"])
    world = DeviceWorld(
        make_slice("s1", [waiting], node="n", pool="p", count=3),
        make_slice("s2", ["d2"], node="n", pool="p", count=3),
        make_slice("s3", ["d3"], node="n", pool="p", count=3),
    )
    assert world.picks(make_claim("c", exactly("r", 2))) == ["r=p/d1", "r=p/d2"]


def test_devices_are_tried_as_listed_and_earlier_choices_are_given_up() -> None:
    world = DeviceWorld(make_slice("p", [sized("d2", "2Gi"), sized("d1", "1Gi")], node="n"))
    claim = make_claim("c", exactly("r0", 1, AT_LEAST_1), exactly("r1", 1, AT_LEAST_2))
    assert world.picks(claim) == ["r0=p/d1", "r1=p/d2"]


def test_claims_of_one_pod_are_solved_together() -> None:
    world = DeviceWorld(make_slice("p", [sized("d2", "2Gi"), sized("d1", "1Gi")], node="n"))
    first = make_claim("c0", exactly("r0", 1, AT_LEAST_1))
    second = make_claim("c1", exactly("r1", 1, AT_LEAST_2))
    assert world.picks(first, second) == ["r0=p/d1", "r1=p/d2"]


def test_all_devices_of_a_match_constraint_have_the_same_value() -> None:
    devices = [device(n, {"s": v}) for n, v in (("d1", "a"), ("d2", "b"), ("d3", "b"))]
    world = DeviceWorld(make_slice("p", devices, node="n"))
    claim = make_claim(
        "c", exactly("r0"), exactly("r1"), constraints=[{"matchAttribute": "gpu.example.com/s"}]
    )
    assert world.picks(claim) == ["r0=p/d2", "r1=p/d3"]


def test_a_later_alternative_is_taken_when_the_first_leaves_nothing_for_others() -> None:
    world = DeviceWorld(
        make_slice("p1", [sized("d", "8Gi")], node="n"),
        make_slice("p2", [sized("d", "4Gi")], node="n"),
    )
    claim = make_claim(
        "c",
        first_of("r0", alternative("big", 1, AT_LEAST_8), alternative("small", 1, AT_LEAST_4)),
        exactly("r1", 1, AT_LEAST_8),
    )
    assert world.picks(claim) == ["r0/small=p2/d", "r1=p1/d"]


def test_an_admin_request_finds_no_device_that_its_claim_has_already() -> None:
    world = DeviceWorld(make_slice("p", ["d1", "d2"], node="n"))
    claim = make_claim("c", exactly("r0", 1, adminAccess=True), exactly("r1", 0, adminAccess=True))
    assert world.picks(claim) is None


def test_admin_requests_of_two_claims_may_have_the_same_device() -> None:
    world = DeviceWorld(make_slice("p", ["d1", "d2"], node="n"))
    claims = [make_claim(name, exactly("r", 1, adminAccess=True)) for name in ("c0", "c1")]
    assert world.picks(*claims) == ["r=p/d1", "r=p/d1"]


def test_an_admin_request_may_have_what_another_claim_of_the_pod_took() -> None:
    world = DeviceWorld(make_slice("p", ["d1", "d2"], node="n"))
    normal = make_claim("c0", exactly("r"))
    admin = make_claim("c1", exactly("r", 1, adminAccess=True))
    assert world.picks(normal, admin) == ["r=p/d1", "r=p/d1"]
    assert world.picks(admin, normal) == ["r=p/d1", "r=p/d2"]


def test_all_fails_when_one_matching_device_is_taken_except_for_admins() -> None:
    world = DeviceWorld(
        make_slice("p", ["d1", "d2"], node="n"),
        make_claim("other", exactly("r"), status=allocated("r=p/d2")),
    )
    assert world.picks(make_claim("c", exactly("r", 0))) is None
    admin = make_claim("c", exactly("r", 0, adminAccess=True))
    assert world.picks(admin) == ["r=p/d1", "r=p/d2"]


def test_a_request_too_big_for_a_claim_falls_back_without_trying_devices() -> None:
    world = DeviceWorld(make_slice("p", [f"d{n:02}" for n in range(64)], node="n"))
    claim = make_claim(
        "c",
        first_of("r0", alternative("a", 32), alternative("b", 16)),
        first_of("r1", alternative("a", 32), alternative("b", 16)),
    )
    picks = world.picks(claim)
    assert picks == [f"r0/b=p/d{n:02}" for n in range(16)] + [
        f"r1/b=p/d{n:02}" for n in range(16, 32)
    ]


def test_a_long_list_for_all_counts_against_the_size_of_the_claim() -> None:
    world = DeviceWorld(
        make_slice("pa", [f"d{n:02}" for n in range(31)], node="n", driver="a"),
        make_slice("pb", ["e1", "e2"], node="n", driver="b"),
    )
    of_a, of_b = 'device.driver == "a"', 'device.driver == "b"'
    claim = make_claim(
        "c",
        first_of("r0", alternative("all", 0, of_a), alternative("two", 2, of_a)),
        exactly("r1", 2, of_b),
    )
    assert world.picks(claim) == ["r0/two=pa/d00", "r0/two=pa/d01", "r1=pb/e1", "r1=pb/e2"]


def test_a_shared_device_without_a_policy_is_used_up_by_one_request() -> None:
    shared = [device(n, capacity={"c": "1"}, allowMultipleAllocations=True) for n in ("d1", "d2")]
    world = DeviceWorld(make_slice("p", shared, node="n"))
    claims = [make_claim("c0", exactly("r")), make_claim("c1", exactly("r"))]
    assert world.picks(*claims) == ["r=p/d1", "r=p/d2"]
    results = [a.devices.results[0] for a in world.allocations(*claims)]
    assert [r.consumed_capacity for r in results] == [{"c": "1"}, {"c": "1"}]
    assert results[0].share_id != results[1].share_id


def test_consumption_is_rounded_up_to_a_step() -> None:
    policy = {"value": "4", "requestPolicy": {"validRange": {"min": "2", "step": "2"}}}
    shared = device("d", capacity={"c": policy}, allowMultipleAllocations=True)
    world = DeviceWorld(make_slice("p", [shared], node="n"))
    claim = make_claim("c", exactly("r", capacity={"requests": {"c": "3"}}))
    assert world.allocations(claim)[0].devices.results[0].consumed_capacity == {"c": "4"}


def test_consumption_is_rounded_up_to_a_valid_value() -> None:
    policy = {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "3"]}}
    shared = device("d", capacity={"c": policy}, allowMultipleAllocations=True)
    world = DeviceWorld(make_slice("p", [shared], node="n"))
    claim = make_claim("c", exactly("r", capacity={"requests": {"c": "2"}}))
    assert world.allocations(claim)[0].devices.results[0].consumed_capacity == {"c": "3"}


def partition(name: str, memory: str, **more: Any) -> dict[str, Any]:
    consumed = {"counterSet": "card", "counters": {"memory": {"value": memory}}}
    return device(name, consumesCounters=[consumed], **more)


def counters(name: str, memory: str) -> ResourceSlice:
    card = {"name": "card", "counters": {"memory": {"value": memory}}}
    return make_slice(name, node="n", pool="p", count=2, sharedCounters=[card])


def test_an_overcommitted_counter_blocks_the_pool() -> None:
    world = DeviceWorld(
        counters("s0", "18Gi"),
        make_slice(
            "s1", [partition("d1", "4Gi"), partition("d2", "20Gi")], node="n", pool="p", count=2
        ),
        make_claim("other", exactly("r"), status=allocated("r=p/d2")),
    )
    assert world.picks(make_claim("c", exactly("r"))) is None


def test_counters_are_given_back_when_a_taint_refuses_the_device() -> None:
    taint = {"key": "broken", "effect": "NoSchedule"}
    devices = [partition("d1", "18Gi", taints=[taint]), partition("d2", "18Gi")]
    world = DeviceWorld(
        counters("s0", "18Gi"), make_slice("s1", devices, node="n", pool="p", count=2)
    )
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p/d2"]


def test_devices_of_a_region_and_of_the_node_give_an_allocation_for_the_node() -> None:
    region = {"key": "region", "operator": "In", "values": ["r1"]}
    world = DeviceWorld(
        make_slice(
            "p1", ["d"], nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [region]}]}
        ),
        make_slice("p2", ["d"], node="n"),
        nodes=[make_node("n", labels={"region": "r1"})],
    )
    claim = make_claim("c", exactly("r", 2))
    assert world.picks(claim) == ["r=p1/d", "r=p2/d"]
    (term,) = world.allocations(claim)[0].node_selector.node_selector_terms
    assert [(f.key, f.operator, f.values) for f in term.match_fields] == [
        ("metadata.name", "In", ("n",))
    ]


def test_admin_access_does_not_bypass_taints() -> None:
    tainted = device("d", taints=[{"key": "k", "effect": "NoSchedule"}])
    world = DeviceWorld(make_slice("p", [tainted], node="n"))
    assert world.picks(make_claim("c", exactly("r", adminAccess=True))) is None
    tolerant = exactly("r", tolerations=[{"key": "k", "operator": "Exists"}])
    assert world.picks(make_claim("c", tolerant)) == ["r=p/d"]


def test_an_invalid_pool_matters_only_when_nothing_else_is_found() -> None:
    broken = make_slice("p1", ["d", "d"], node="n")
    world = DeviceWorld(broken, make_slice("p2", ["d"], node="n"))
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p2/d"]
    with pytest.raises(NoDevices, match="invalid resource pools were encountered"):
        DeviceWorld(broken).picks(make_claim("c", exactly("r")))


def test_class_configuration_is_listed_once_for_all_its_requests() -> None:
    def config(text: str) -> dict[str, object]:
        return {"opaque": {"driver": "d", "parameters": {"x": text}}}

    world = DeviceWorld(
        make_slice("p", ["d1", "d2", "d3"], node="n"),
        make_class("a", config=[config("a")]),
        make_class("b", config=[config("b")]),
    )
    claim = make_claim(
        "c",
        exactly("r0", class_="a"),
        exactly("r1", class_="a"),
        exactly("r2", class_="b"),
        config=[{"requests": ["r0", "r1"], **config("own")}],
    )
    found = world.allocations(claim)[0].devices.config
    assert [(c.source, c.requests) for c in found] == [
        ("FromClass", ("r0", "r1")),
        ("FromClass", ("r2",)),
        ("FromClaim", ("r0", "r1")),
        ("FromClaim", ("r0", "r1")),
    ]


def test_more_devices_than_a_claim_can_hold_end_the_attempt() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"))
    with pytest.raises(AllocationError) as problem:
        world.picks(make_claim("c", exactly("r", 500)))
    assert str(problem.value) == (
        "claim default/c: number of requested devices 500 exceeds the claim limit of 32"
    )


def test_distinct_values_are_compared_with_the_last_pick_of_a_request() -> None:
    devices = [device(n, {"x": v}) for n, v in (("d1", 1), ("d2", 2), ("d3", 1))]
    world = DeviceWorld(make_slice("p", devices, node="n"))
    claim = make_claim(
        "c", exactly("r", 3), constraints=[{"distinctAttribute": "gpu.example.com/x"}]
    )
    assert world.picks(claim) == ["r=p/d1", "r=p/d2", "r=p/d3"]


def test_a_claim_without_requests_gets_an_empty_allocation() -> None:
    (allocation,) = DeviceWorld().allocations(make_claim("c"))
    assert allocation.devices.results is None
    assert allocation.node_selector is None


@pytest.mark.parametrize(
    ("slices", "state"),
    [
        ([make_slice("p", ["d"], node="n", count=2)], "being updated"),
        ([make_slice("p", ["d", "d"], node="n")], "invalid"),
    ],
)
def test_all_refuses_pools_it_cannot_see_as_a_whole(slices: list[object], state: str) -> None:
    world = DeviceWorld(*slices)
    with pytest.raises(AllocationError) as problem:
        world.picks(make_claim("c", exactly("r", 0)))
    assert str(problem.value) == (
        "claim default/c, request r: asks for all devices, but resource pool"
        f" gpu.example.com/p is currently {state}"
    )


def test_all_with_a_constraint_that_cannot_hold_ends_the_attempt() -> None:
    devices = [device("d1", {"x": 1}), device("d2", {"x": 2})]
    world = DeviceWorld(make_slice("p", devices, node="n"))
    claim = make_claim("c", exactly("r", 0), constraints=[{"matchAttribute": "gpu.example.com/x"}])
    with pytest.raises(AllocationError) as problem:
        world.picks(claim)
    assert str(problem.value) == (
        "claim default/c, request r: cannot add device gpu.example.com/p/d2 because a claim"
        " constraint would not be satisfied"
    )


def test_an_empty_list_for_all_is_no_solution() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"))
    assert world.picks(make_claim("c", exactly("r", 0, 'device.driver == "x"'))) is None


def test_selectors_are_not_evaluated_for_devices_behind_the_solution() -> None:
    devices = [device("d1", {"model": "a"}), device("d2")]
    world = DeviceWorld(make_slice("p", devices, node="n"))
    selector = 'device.attributes["gpu.example.com"].model == "a"'
    assert world.picks(make_claim("c", exactly("r", 1, selector))) == ["r=p/d1"]
    with pytest.raises(AllocationError) as problem:
        world.picks(make_claim("c", exactly("r", 2, selector)))
    assert str(problem.value) == (
        "claim default/c: selector #0: CEL runtime error: no such key: model"
    )


def test_errors_of_class_selectors_name_the_class() -> None:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"),
        make_class("odd", "true", 'device.attributes["x"].y == 1'),
        make_class("bad", "1"),
    )
    with pytest.raises(AllocationError, match=r"^class odd: selector #1: CEL runtime error: no su"):
        world.picks(make_claim("c", exactly("r", class_="odd")))
    with pytest.raises(AllocationError, match=r"^class bad: selector #0: CEL compile error: must"):
        world.picks(make_claim("c", exactly("r", class_="bad")))


def test_devices_may_be_limited_to_nodes_one_by_one() -> None:
    devices = [device("d1", nodeName="m"), device("d2", nodeName="n"), device("d3", allNodes=True)]
    world = DeviceWorld(
        make_slice("p", devices, perDeviceNodeSelection=True), nodes=["n", "m", "o"]
    )
    claim = make_claim("c", exactly("r"))
    assert world.picks(claim, node="n") == ["r=p/d2"]
    assert world.picks(claim, node="m") == ["r=p/d1"]
    assert world.picks(claim, node="o") == ["r=p/d3"]
    assert world.allocations(claim, node="o")[0].node_selector is None


def test_features_that_are_off_take_their_devices_away() -> None:
    waiting = device("d", bindingConditions=["ready"])
    world = DeviceWorld(make_slice("p", [waiting], node="n"))
    assert (
        world.find(make_claim("c", exactly("r")), rules=PickRules(binding_conditions=False)) is None
    )
    tainted = device("d", taints=[{"key": "k", "effect": "NoSchedule"}])
    world = DeviceWorld(make_slice("p", [tainted], node="n"))
    assert world.find(make_claim("c", exactly("r")), rules=PickRules(taints=False)) is not None


def test_a_search_without_end_is_given_up() -> None:
    devices = [device(f"d{n:02}", {"x": n}) for n in range(24)]
    world = DeviceWorld(make_slice("p", devices, node="n"))
    claim = make_claim(
        "c",
        exactly("r0", 12),
        exactly("r1", 12),
        exactly("r2", 1),
    )
    with pytest.raises(TimedOut):
        world.picks(claim)


def test_equal_devices_are_not_tried_in_each_others_place() -> None:
    world = DeviceWorld(make_slice("p", [f"d{n:02}" for n in range(24)], node="n"))
    claim = make_claim("c", exactly("r0", 12), exactly("r1", 12), exactly("r2", 1))
    assert world.picks(claim) is None
