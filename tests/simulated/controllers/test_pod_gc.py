"""Collecting pods that nobody else will."""

from support.simulated.controller_objects import (
    moment,
    node,
    pod,
    shown,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.pod_gc import PodGC, decide, surplus
from podium.simulated.informers import Informers


def test_a_pod_without_its_node_is_given_time_and_then_goes() -> None:
    lost = pod("a")
    early = decide(lost, node_is_there=False, lost_s=10, moment=moment())
    assert (shown(early), early.again_after_s) == ([], 30)
    late = decide(lost, node_is_there=False, lost_s=40, moment=moment())
    assert shown(late) == ["~pods/status a", "-pods a in 0s"]
    status = written_status(late, "pods")
    assert status["phase"] == "Failed"
    assert status["conditions"][0]["reason"] == "DeletionByPodGC"
    ended = decide(pod("a", "Succeeded"), node_is_there=False, lost_s=40, moment=moment())
    assert shown(ended) == ["-pods a in 0s"]


def test_a_pod_that_was_never_placed_and_is_to_go_goes() -> None:
    never = pod("a", "Pending", node="", deletionTimestamp=timestamp())
    told = shown(decide(never, node_is_there=True, lost_s=0, moment=moment()))
    assert told == ["~pods/status a", "-pods a in 0s"]
    waiting = pod("a", "Pending", node="")
    assert shown(decide(waiting, node_is_there=True, lost_s=0, moment=moment())) == []


def test_the_oldest_of_too_many_ended_pods_go() -> None:
    ended = [pod(f"p{i}", "Succeeded", creationTimestamp=timestamp(-i)) for i in range(4)]
    assert shown(surplus(ended, 2)) == ["-pods p3 in 0s", "-pods p2 in 0s"]
    assert shown(surplus(ended, 4)) == []


def test_nodes_that_go_and_come_back_are_noticed() -> None:
    informers = Informers()
    controller = PodGC(informers, most_ended=1)
    woken: list[object] = []
    controller.watch(woken.append)
    informers.nodes.put(node("n1"))
    informers.pods.put(pod("a"))
    assert woken == []
    there = informers.nodes.get("", "n1")
    assert there is not None
    informers.nodes.drop(there)
    assert woken == [("ns", "a")]
    assert controller.plan(("ns", "a"), moment(0)).again_after_s == 40
    informers.nodes.put(node("n1", metadata={"uid": "another", "resourceVersion": "9"}))
    assert shown(controller.plan(("ns", "a"), moment(50))) == []
    woken.clear()
    for name in ("x", "y"):
        informers.pods.put(pod(name, "Failed"))
    assert "*" in woken
    assert shown(controller.plan("*", moment())) == ["-pods x in 0s"]
