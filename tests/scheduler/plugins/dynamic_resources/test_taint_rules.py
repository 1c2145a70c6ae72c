"""Taints that DeviceTaintRules put on devices (gate DRADeviceTaintRules)."""

from typing import Any

import msgspec
import pytest
from support.scheduler.plugins.device_builders import (
    DRIVER,
    DeviceWorld,
    claiming_pod,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.devices import DeviceTaintRule
from podium.testing import FakeCluster, make_node

MEANING_THE_DEVICE = [
    None,
    {},
    {"driver": DRIVER},
    {"pool": "p"},
    {"device": "d"},
    {"driver": DRIVER, "pool": "p", "device": "d"},
]
MEANING_OTHERS = [
    {"driver": "other.example.com"},
    {"pool": "q"},
    {"device": "e"},
    {"driver": DRIVER, "pool": "p", "device": "e"},
    {"driver": "", "device": "d"},
]


def rule(
    selector: dict[str, str] | None = None, name: str = "r", effect: str = "NoSchedule", **more: Any
) -> DeviceTaintRule:
    spec = {"deviceSelector": selector, "taint": {"key": "broken", "effect": effect, **more}}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, DeviceTaintRule)


def served(*objects: Any, gate: bool = True) -> bool:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), *objects, DRADeviceTaintRules=gate)
    return world.picks(make_claim("c", exactly("r"))) is not None


@pytest.mark.parametrize("selector", MEANING_THE_DEVICE)
def test_a_rule_keeps_a_device_that_it_means_from_being_taken(selector: Any) -> None:
    assert not served(rule(selector))


@pytest.mark.parametrize("selector", MEANING_OTHERS)
def test_a_rule_for_other_devices_changes_nothing(selector: Any) -> None:
    assert served(rule(selector))


def test_rules_count_only_while_their_gate_is_on() -> None:
    assert served(rule(), gate=False)


def test_a_rule_without_effect_on_scheduling_changes_nothing() -> None:
    assert served(rule(effect="None"))
    assert not served(rule(effect="NoExecute"))


def test_tolerations_cover_taints_of_rules_and_of_drivers_alike() -> None:
    tolerations = [{"key": "broken", "operator": "Exists"}]
    world = DeviceWorld(make_slice("p", ["d"], node="n"), rule(), DRADeviceTaintRules=True)
    assert world.picks(make_claim("c", exactly("r", tolerations=tolerations))) == ["r=p/d"]
    world.put(rule(name="second", key="other"))
    assert world.picks(make_claim("c", exactly("r", tolerations=tolerations))) is None


def test_a_rule_that_comes_changes_or_goes_counts_at_once() -> None:
    world = DeviceWorld(make_slice("p", ["d", "e"], node="n"), DRADeviceTaintRules=True)
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p/d"]
    world.put(rule({"device": "d"}))
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p/e"]
    world.put(rule({"device": "e"}))
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p/d"]
    world.put(rule())
    assert world.picks(make_claim("c", exactly("r"))) is None
    world.cluster.catalog.remove(rule())
    assert world.picks(make_claim("c", exactly("r"))) == ["r=p/d"]


def waiting() -> FakeCluster:
    """A pod whose only device is tainted by a rule."""
    driver = FakeCluster(
        make_node("n"),
        make_class(),
        make_slice("p", ["d"], node="n"),
        rule(),
        gates={"DRADeviceTaintRules": True},
    )
    driver.put(make_claim("c", exactly("r")), claiming_pod("pod", "c"))
    driver.run()
    assert driver.where() == {"pod": "unschedulable"}
    return driver


def test_the_end_of_a_rule_wakes_pods_that_wait_for_devices() -> None:
    driver = waiting()
    driver.engine.intake.object_deleted(rule())
    assert driver.where() == {"pod": "backoff"}
    driver.wait(3)
    assert driver.run() == ["pod"]
    assert driver.where() == {"pod": "binding"}


def test_a_rule_that_changes_no_taint_wakes_nobody() -> None:
    driver = waiting()
    driver.put(rule({"pool": "q"}, name="another"))
    driver.put(rule({"pool": "p"}))
    assert driver.where() == {"pod": "unschedulable"}
    driver.put(rule({"pool": "q"}))
    assert driver.where() == {"pod": "backoff"}
