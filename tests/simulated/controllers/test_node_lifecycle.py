"""Nodes that fall silent, and the taints that tell everybody."""

from typing import Any

import pytest
from support.simulated.controller_objects import (
    build,
    condition,
    moment,
    node,
    patches,
    pod,
    shown,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.node_lifecycle import NodeLifecycle, decide
from podium.kubernetes.controllers.objects import Lease, Node
from podium.simulated.informers import Informers


def taints_of(made: Plan) -> set[tuple[str, str]]:
    for patch in patches(made):
        if "spec" in patch.body:
            return {
                (taint["key"].removeprefix("node.kubernetes.io/"), taint["effect"])
                for taint in patch.body["spec"]["taints"]
            }
    raise AssertionError(f"no taints in {shown(made)}")


def plan(of: Node, *pods: Any, heard_at_s: float = 0, now_s: float = 0) -> Plan:
    return decide(of, pods, heard_at_s, 50, moment(now_s))


def tainted(*keys: tuple[str, str], **fields: Any) -> Node:
    taints = [{"key": f"node.kubernetes.io/{key}", "effect": effect} for key, effect in keys]
    return node(spec={"taints": taints}, **fields)


def test_a_node_that_is_heard_of_is_looked_at_when_its_time_runs_out() -> None:
    made = plan(node(), heard_at_s=10, now_s=30)
    assert shown(made) == []
    assert made.again_after_s == 30


def test_a_new_node_loses_its_taint_when_it_is_ready_and_not_before() -> None:
    fresh = tainted(("not-ready", "NoSchedule"), ready=None)
    assert shown(plan(fresh)) == []
    assert taints_of(plan(tainted(("not-ready", "NoSchedule")))) == set()


def test_silence_makes_conditions_unknown_and_then_taints() -> None:
    silent = plan(node(), now_s=50)
    conditions = written_status(silent, "nodes")["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == dict.fromkeys(
        ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"), "Unknown"
    )
    assert conditions[0]["message"] == "Kubelet stopped posting node status."
    assert silent.again_after_s == 0
    names = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
    unknown = build(
        Node, "n1", "", status={"conditions": [condition(name, "Unknown") for name in names]}
    )
    assert taints_of(plan(unknown, now_s=51)) == {
        ("unreachable", "NoSchedule"),
        ("unreachable", "NoExecute"),
    }


def test_a_node_that_says_it_is_not_ready_is_tainted_so() -> None:
    assert taints_of(plan(node(ready="False"))) == {
        ("not-ready", "NoSchedule"),
        ("not-ready", "NoExecute"),
    }


def test_pressure_and_cordons_are_taints_and_those_of_others_stay() -> None:
    own = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    pressed = build(
        Node,
        "n1",
        "",
        spec={"unschedulable": True, "taints": [own]},
        status={"conditions": [condition("Ready"), condition("MemoryPressure")]},
    )
    made = plan(pressed)
    assert taints_of(made) == {
        ("memory-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
        ("dedicated", "NoSchedule"),
    }
    assert own in patches(made)[0].body["spec"]["taints"]


@pytest.mark.parametrize(
    ("kind", "taint"),
    [
        ("MemoryPressure", "memory-pressure"),
        ("DiskPressure", "disk-pressure"),
        ("PIDPressure", "pid-pressure"),
    ],
)
def test_every_kind_of_pressure_keeps_new_pods_out(kind: str, taint: str) -> None:
    conditions = [condition("Ready"), condition(kind)]
    pressed = build(Node, "n1", "", spec={}, status={"conditions": conditions})
    assert taints_of(plan(pressed)) == {(taint, "NoSchedule")}


def test_pods_on_a_node_that_is_not_ready_are_not_ready() -> None:
    gone = tainted(("not-ready", "NoSchedule"), ("not-ready", "NoExecute"), ready="False")
    made = plan(gone, pod("a"), pod("b", ready=False))
    assert shown(made) == ["~pods/status a"]
    assert written_status(made, "pods")["conditions"][0]["status"] == "False"


def test_a_renewed_lease_is_news_and_an_unchanged_one_is_not() -> None:
    informers = Informers()
    now = [0.0]
    controller = NodeLifecycle(informers, lambda: now[0], 50)
    woken: list[str] = []
    controller.watch(woken.append)
    informers.nodes.put(node())
    assert woken == ["n1"]

    def renew(version: str, at: str) -> None:
        metadata = {"uid": "l", "resourceVersion": version}
        spec = {"renewTime": at}
        informers.leases.put(build(Lease, "n1", "kube-node-lease", metadata=metadata, spec=spec))

    now[0] = 30
    renew("2", "t1")
    assert controller.plan("n1", moment(50)).again_after_s == 30
    now[0] = 60
    renew("3", "t1")
    assert written_status(controller.plan("n1", moment(80)), "nodes")["conditions"]
