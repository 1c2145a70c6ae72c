"""PreemptionToleration: who withstands a preemptor, and for how long."""

from typing import Any

import msgspec
import pytest

from podium.addons.collection.preemption import (
    MINIMUM_PREEMPTABLE_PRIORITY,
    TOLERATION_SECONDS,
    PreemptionToleration,
)
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.kubernetes.rules.timestamps import time_text
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import FakeCluster, assert_promises, make_node, make_pod


def priority_class(**annotations: str) -> PriorityClass:
    keys = {"minimum": MINIMUM_PREEMPTABLE_PRIORITY, "seconds": TOLERATION_SECONDS}
    metadata = {"name": "low", "annotations": {keys[k]: text for k, text in annotations.items()}}
    return msgspec.convert({"metadata": metadata, "value": 0}, PriorityClass)


def cluster_of(*classes: PriorityClass, **args: Any) -> FakeCluster:
    node = make_node("a", allocatable={"cpu": "1", "memory": "1Gi", "pods": 10})
    return FakeCluster(
        node,
        *classes,
        plugins=[PreemptionToleration],
        disabled=["DefaultPreemption"],
        args={"PreemptionToleration": args} if args else None,
    )


def victim(scheduled_at: float | None = None, class_name: str = "low") -> Pod:
    condition = {"type": "PodScheduled", "status": "True"}
    if scheduled_at is not None:
        condition["lastTransitionTime"] = time_text(scheduled_at)
    status = {"conditions": [condition]} if scheduled_at is not None else {}
    return make_pod(
        "victim",
        node="a",
        requests={"cpu": "1"},
        priority=0,
        status=status,
        priorityClassName=class_name,
    )


def urgent(priority: int = 10, **spec: Any) -> Pod:
    return make_pod("urgent", requests={"cpu": "1"}, priority=priority, **spec)


def evicted(cluster: FakeCluster) -> list[str]:
    evictions = [eviction for request in cluster.preemptions for eviction in request.evict]
    return [eviction.victim.pod.metadata.name for eviction in evictions]


@pytest.mark.parametrize(
    ("annotations", "preemptor", "age_s", "goes"),
    [
        ({}, 10, 0, True),
        ({"minimum": "100"}, 10, 0, True),
        ({"minimum": "100", "seconds": "0"}, 10, 0, True),
        ({"minimum": "100", "seconds": "-1"}, 10, 1_000_000, False),
        ({"minimum": "100", "seconds": "-1"}, 99, 0, False),
        ({"minimum": "100", "seconds": "-1"}, 100, 0, True),
        ({"minimum": "100", "seconds": "-1"}, 101, 0, True),
        ({"minimum": "100", "seconds": "60"}, 10, 59, False),
        ({"minimum": "100", "seconds": "60"}, 10, 60, True),
        ({"minimum": "100", "seconds": "60"}, 10, None, False),
        ({"seconds": "-1"}, 10, 0, True),
        ({"minimum": "many", "seconds": "-1"}, 10, 0, True),
        ({"minimum": "100", "seconds": "ever"}, 10, 0, True),
        ({"minimum": "2147483648", "seconds": "-1"}, 10, 0, True),
    ],
)
def test_a_victim_withstands_weaker_preemptors_while_its_toleration_lasts(
    annotations: dict[str, str], preemptor: int, age_s: int | None, goes: bool
) -> None:
    cluster = cluster_of(priority_class(**annotations))
    since = None if age_s is None else cluster.clock() - age_s
    cluster.put(victim(since))
    cluster.schedule(urgent(preemptor))
    assert evicted(cluster) == (["victim"] if goes else [])


def test_a_pod_is_tried_again_when_a_toleration_has_run_out() -> None:
    cluster = cluster_of(priority_class(minimum="100", seconds="120"))
    cluster.put(victim(cluster.clock()))
    cluster.schedule(urgent())
    cluster.wait(119)
    assert cluster.run() == []
    cluster.wait(1)
    assert cluster.run() == ["urgent"]
    assert evicted(cluster) == ["victim"]


def test_a_class_that_nobody_knows_leaves_the_node_out() -> None:
    cluster = cluster_of()
    cluster.put(victim(class_name="gone"))
    cluster.schedule(urgent())
    assert evicted(cluster) == []
    assert any('"gone" not found' in note for note in cluster.notes())


def test_pods_of_the_system_classes_have_no_toleration() -> None:
    cluster = cluster_of()
    cluster.put(victim(class_name="system-node-critical"))
    cluster.schedule(urgent())
    assert evicted(cluster) == ["victim"]


def test_a_pod_that_may_not_preempt_does_not() -> None:
    cluster = cluster_of(priority_class())
    cluster.put(victim(cluster.clock()))
    cluster.schedule(urgent(preemptionPolicy="Never"))
    assert evicted(cluster) == []


def test_nobody_else_has_to_go_while_a_pod_is_leaving_the_nominated_node() -> None:
    cluster = cluster_of(priority_class())
    cluster.put(victim(cluster.clock()))
    cluster.terminate("victim")
    decision = cluster.schedule(urgent(status={"nominatedNodeName": "a"}))
    assert "a terminating pod on the nominated node" in (decision.message or "")


def test_a_preemptor_that_missed_its_last_victim_is_woken_at_the_end() -> None:
    cluster = cluster_of()
    half = {"cpu": "500m"}
    cluster.put(*(make_pod(name, node="a", requests=half) for name in ("one", "two")))
    cluster.schedule(urgent())
    cluster.delete("one")
    assert cluster.where() == {"two": "a", "urgent": "gated"}
    cluster.delete("two")
    assert cluster.where() == {"urgent": "gated"}
    (request,) = cluster.preemptions
    cluster.engine.preemptions.finish_preemption(request.preemptor, None)
    assert cluster.run() == ["urgent"]


@pytest.mark.parametrize(
    "args",
    [
        {"minCandidateNodesPercentage": 101},
        {"minCandidateNodesAbsolute": -1},
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
    ],
)
def test_arguments_have_the_limits_of_default_preemption(args: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        cluster_of(**args)


def test_it_keeps_its_promises() -> None:
    assert_promises(PreemptionToleration)
