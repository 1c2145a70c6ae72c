"""Preemption: which pods leave, and who may make them, through whole attempts."""

from typing import Any

import pytest
from support.scheduler.engine.tight_clusters import (
    GOING,
    PREEMPTED,
    chosen,
    decide,
    engine_of,
    pending,
    running,
    small,
)
from support.scheduler.framework.fake_plugins import make_engine, pre_filter

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.status import unschedulable
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.testing import make_node, make_pod

# victims


def test_the_least_important_pods_that_make_room_are_the_victims() -> None:
    engine = engine_of(
        small("a", cpu=3),
        running("low", "a", 1),
        running("lower", "a", 0),
        running("mid", "a", 5),
    )
    decision = decide(engine)
    assert chosen(decision) == ("a", ["lower"])
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert (decision.bound, decision.nominated_node, decision.is_error) == (None, "a", False)
    assert len(engine.cluster.usage.pods(0)) == 3


def test_pods_of_the_same_priority_are_never_victims() -> None:
    engine = engine_of(small("a", cpu=1), running("equal", "a", 10))
    decision = decide(engine)
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )
    assert decision.nominated_node == ""


def test_a_reprieve_goes_to_the_most_important_then_to_the_longest_running() -> None:
    engine = engine_of(
        small("a", cpu=3),
        running("young", "a", 1, start=30),
        running("old", "a", 1, start=10),
        running("unstarted", "a", 1),
    )
    assert chosen(decide(engine, pending(cpu=1))) == ("a", ["unstarted"])
    assert chosen(decide(engine, pending(cpu=2))) == ("a", ["young", "unstarted"])


def test_a_smaller_pod_may_be_reprieved_after_a_larger_one_was_not() -> None:
    engine = engine_of(
        small("a", cpu=3), running("large", "a", 2, cpu=2), running("tiny", "a", 1, cpu=1)
    )
    assert chosen(decide(engine, pending(cpu=2))) == ("a", ["large"])


def test_terminating_pods_are_potential_victims() -> None:
    engine = engine_of(small("a", cpu=1), running("going", "a", 0, metadata=GOING))
    assert chosen(decide(engine)) == ("a", ["going"])


def test_a_node_that_no_victim_can_open_keeps_its_filter_reason() -> None:
    engine = engine_of(small("a"), running("low", "a", 0), running("high", "a", 99))
    decision = decide(engine, pending(cpu=2))
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 Insufficient cpu."
    )


def test_a_node_that_is_too_small_when_empty_is_not_worth_a_dry_run() -> None:
    engine = engine_of(small("a"), running("low", "a", 0))
    decision = decide(engine, pending(cpu=3))
    assert decision.message is not None
    assert decision.message.endswith("1 Preemption is not helpful for scheduling.")


def test_only_nodes_that_were_rejected_as_unschedulable_are_tried() -> None:
    tainted = make_node("t", taints=[("k", "", "NoSchedule")], allocatable={"cpu": 1, "pods": 5})
    engine = engine_of(
        tainted, small("a", cpu=1), running("low", "t", 0), running("equal", "a", 10)
    )
    decision = decide(engine)
    assert decision.message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new "
        "claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found "
        "for incoming pod, 1 Preemption is not helpful for scheduling."
    )


def test_nominated_pods_of_higher_priority_keep_their_room() -> None:
    engine = engine_of(small("a", cpu=2), running("v1", "a", 0), running("v2", "a", 1))
    rival = engine.cluster.infos.of(make_pod("rival", priority=50, requests={"cpu": 1}))
    engine.cluster.nominator.nominate(rival, "a")
    assert chosen(decide(engine)) == ("a", ["v2", "v1"])


def test_victims_wait_for_their_anti_affinity_to_be_in_the_way() -> None:
    against = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
            ]
        }
    }
    node = make_node("a", labels={"zone": "z"})
    engine = engine_of(
        node,
        running("bystander", "a", 1, cpu=0),
        running("hostile", "a", 3, cpu=0, affinity=against),
    )
    assert chosen(decide(engine, pending(labels={"app": "x"}))) == ("a", ["hostile"])


# eligibility


def test_a_pod_that_never_preempts_keeps_its_nomination() -> None:
    engine = engine_of(small("a", cpu=1), running("low", "a", 0))
    decision = decide(engine, pending(preemptionPolicy="Never"))
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "not eligible due to preemptionPolicy=Never."
    )
    assert decision.nominated_node is None


def waiting_for_victims(**status: Any) -> Pod:
    return running("leaving", "a", 0, metadata=GOING, status=status)


def test_a_preemptor_waits_for_its_victims_to_leave() -> None:
    engine = engine_of(
        small("a", cpu=1),
        small("b", cpu=1),
        waiting_for_victims(conditions=[PREEMPTED]),
        running("low", "b", 0),
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert decision.message is not None
    assert decision.message.endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."
    )
    assert decision.nominated_node is None


@pytest.mark.parametrize(
    "condition",
    [
        {**PREEMPTED, "reason": "EvictionByEvictionAPI"},
        {**PREEMPTED, "status": "False"},
        {**PREEMPTED, "type": "Ready"},
    ],
)
def test_pods_that_leave_for_another_reason_are_not_waited_for(condition: dict[str, str]) -> None:
    engine = engine_of(small("a", cpu=1), waiting_for_victims(conditions=[condition]))
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert chosen(decision) == ("a", ["leaving"])


def test_a_nominated_node_that_cannot_be_used_any_more_is_not_waited_for() -> None:
    cordoned = make_node("a", unschedulable=True, allocatable={"cpu": 1, "pods": 5})
    engine = engine_of(
        cordoned,
        small("b", cpu=1),
        waiting_for_victims(conditions=[PREEMPTED]),
        running("low", "b", 0),
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert chosen(decision) == ("b", ["low"])


def test_a_nominated_node_that_is_gone_is_not_waited_for() -> None:
    """Its pods may still be known, and PreFilter may have spoken for all nodes."""
    engine = make_engine(
        pre_filter("P", unschedulable("not now")),
        DefaultPreemption,
        nodes=[small("b")],
        pods=[waiting_for_victims(conditions=[PREEMPTED]), running("low", "b", 0)],
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert decision.message is not None
    assert "not eligible" not in decision.message
