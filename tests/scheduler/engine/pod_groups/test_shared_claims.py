"""A gang whose members share a claim that has no allocation yet."""

from support.scheduler.engine.group_driver import GroupDriver, make_group, node
from support.scheduler.plugins.device_builders import (
    claiming_pod,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod


def member(name: str) -> Pod:
    group = {"podGroupName": "g"}
    return claiming_pod(name, "c", requests={"cpu": 1}, schedulingGroup=group)


def world(cpu: int) -> list[KubeStruct]:
    return [
        node("a", 8),
        node("b", cpu),
        make_class(),
        make_slice("p", ["d"], node="b"),
        make_claim("c", exactly("r")),
        make_group(min_count=3),
    ]


def test_a_gang_is_placed_where_the_shared_device_is() -> None:
    driver = GroupDriver(*world(cpu=3))
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    assert driver.where() == {"p": "binding", "q": "binding", "r": "binding"}
    assert {driver.bindings[name].node_name for name in "pqr"} == {"b"}


def test_a_gang_without_room_beside_the_shared_device_holds_nothing() -> None:
    driver = GroupDriver(*world(cpu=2))
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    assert not driver.bindings
    assert {reason for reason, _ in driver.told().values()} == {"Unschedulable"}
    driver.put(claiming_pod("alone", "c"))
    driver.run()
    assert driver.where()["alone"] == "binding"
