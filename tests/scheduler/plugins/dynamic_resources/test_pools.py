"""Which devices a node can use, and in which order they stand."""

from typing import Any

import pytest
from support.scheduler.plugins.device_builders import DeviceWorld, device, make_slice

from podium.kubernetes.kinds.devices import ResourceSlice
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.plugins.dynamic_resources.inventory import Inventory, InventoryRules
from podium.scheduler.plugins.dynamic_resources.pools import GatherError, NodePools, gather_pools
from podium.testing import make_node


def pools(*slices: ResourceSlice, labels: dict[str, str] | None = None, **more: Any) -> NodePools:
    world = DeviceWorld(*slices)
    inventory = Inventory(world.cluster.catalog, InventoryRules.of(FeatureGates()))
    inventory.refresh()
    return gather_pools(inventory, "n", labels or {}, **more)


def names(found: NodePools) -> list[str]:
    return [f"{entry.id.pool}/{entry.id.device}" for entry in found.sequence]


def test_slices_stand_by_name_and_devices_as_listed() -> None:
    found = pools(
        make_slice("s2", ["a"], node="n", pool="p", count=2),
        make_slice("s1", ["z", "b"], node="n", pool="p", count=2),
    )
    assert names(found) == ["p/z", "p/b", "p/a"]


def test_pools_stand_by_driver_then_name() -> None:
    found = pools(
        make_slice("s1", ["d"], node="n", driver="b", pool="a"),
        make_slice("s2", ["d"], node="n", driver="a", pool="z"),
    )
    assert [str(pool) for pool in found.pools] == ["a/z", "b/a"]


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    found = pools(
        make_slice("s1", ["old"], node="n", pool="p"),
        make_slice("s2", ["new"], node="n", pool="p", generation=2),
    )
    assert names(found) == ["p/new"]


def test_a_pool_with_missing_slices_offers_nothing() -> None:
    found = pools(make_slice("s1", ["d"], node="n", pool="p", count=2))
    assert names(found) == []
    assert [pool.incomplete for pool in found.pools] == [True]


def test_slices_for_other_nodes_complete_a_pool() -> None:
    found = pools(
        make_slice("s1", ["d"], node="n", pool="p", count=2),
        make_slice("s2", ["e"], node="m", pool="p", count=2),
    )
    assert names(found) == ["p/d"]


def test_a_pool_whose_newer_slices_are_elsewhere_is_dropped() -> None:
    found = pools(
        make_slice("s1", ["d"], node="n", pool="p", count=2),
        make_slice("s2", ["e"], node="m", pool="p", generation=2, count=2),
    )
    assert found.pools == []


def test_a_complete_pool_is_not_checked_for_newer_slices_elsewhere() -> None:
    found = pools(
        make_slice("s1", ["d"], node="n", pool="p"),
        make_slice("s2", ["e"], node="m", pool="p", generation=2),
    )
    assert names(found) == ["p/d"]


def consuming(name: str, counter_set: str, counter: str) -> dict[str, Any]:
    consumed = {"counterSet": counter_set, "counters": {counter: {"value": "1"}}}
    return device(name, consumesCounters=[consumed])


SET = {"name": "set", "counters": {"c": {"value": "1"}}}


@pytest.mark.parametrize(
    "slices",
    [
        [make_slice("s", ["d", "d"], node="n", pool="p")],
        [make_slice("s", node="n", pool="p", sharedCounters=[SET, SET])],
        [make_slice("s", [consuming("d", "set", "c")], node="n", pool="p")],
        [
            make_slice("s0", node="n", pool="p", count=2, sharedCounters=[SET]),
            make_slice("s1", [consuming("d", "set", "x")], node="n", pool="p", count=2),
        ],
        [
            make_slice("s0", node="n", pool="p", count=3, sharedCounters=[SET]),
            make_slice("s1", ["d"], node="n", pool="p", count=3),
            make_slice("s2", [consuming("e", "nope", "c")], node="m", pool="p", count=3),
        ],
    ],
)
def test_a_pool_that_makes_no_sense_offers_nothing(slices: list[ResourceSlice]) -> None:
    found = pools(*slices)
    assert names(found) == []
    assert [pool.invalid for pool in found.pools] == [True]


def test_slices_reach_nodes_by_name_label_or_everywhere() -> None:
    def selected(key: str, value: str) -> dict[str, Any]:
        requirement = {"key": key, "operator": "In", "values": [value]}
        return {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}

    found = pools(
        make_slice("a", ["d"], allNodes=True),
        make_slice("b", ["d"], node="m"),
        make_slice("c", ["d"], nodeSelector=selected("zone", "z")),
        make_slice("d", ["d"], nodeSelector=selected("zone", "other")),
        make_slice("e", ["d"]),
        labels={"zone": "z"},
    )
    assert names(found) == ["a/d", "c/d"]


def test_a_selector_that_cannot_be_read_ends_the_attempt() -> None:
    bad = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Nope"}]}]}
    with pytest.raises(GatherError, match="failed to perform node selection for slice s"):
        pools(make_slice("s", ["d"], nodeSelector=bad))


def test_partitions_are_left_out_without_the_feature() -> None:
    found = pools(
        make_slice("a", [device("d", allNodes=True)], perDeviceNodeSelection=True),
        make_slice("b", ["d"], node="n"),
        partitionable=False,
    )
    assert names(found) == ["b/d"]


def test_equal_devices_share_one_content_until_a_slice_changes() -> None:
    world = DeviceWorld(make_slice("s", ["d1", "d2"], node="n"), nodes=[make_node("n")])
    inventory = Inventory(world.cluster.catalog, InventoryRules.of(FeatureGates()))
    inventory.refresh()
    (entry,) = inventory.on_node("n")
    first, second = entry.devices
    assert first.content is second.content
    world.put(make_slice("other", ["d3"], node="n"))
    inventory.refresh()
    assert inventory.on_node("n")[0] is entry
    assert inventory.on_node("n")[1].devices[0].content is first.content
    world.cluster.catalog.remove(make_slice("s"))
    inventory.refresh()
    assert [slice_.name for slice_ in inventory.on_node("n")] == ["other"]
