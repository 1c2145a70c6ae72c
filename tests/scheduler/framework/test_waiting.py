"""Pods that wait at Permit: the first signal wins."""

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.framework.queued import MAX_WAIT_S, WaitingPod, WaitingPods
from podium.scheduler.framework.status import Code, Status
from podium.testing import make_pod

INFOS = PodInfos(ALL_REQUESTS)


def pod(name: str = "p") -> PodInfo:
    return INFOS.of(make_pod(name))


def waiting(now: float = 100.0, **timeouts: float) -> WaitingPod:
    return WaitingPod(pod(), "node", timeouts, now)


def test_the_last_plugin_to_allow_lets_the_pod_go() -> None:
    held = waiting(A=10, B=20)
    assert held.allow("A")
    assert held.outcome is None
    assert held.pending_plugins == ("B",)
    assert held.allow("B")
    assert held.outcome == Status(Code.SUCCESS, (), "B")


def test_a_plugin_that_does_not_hold_the_pod_cannot_allow_it() -> None:
    held = waiting(A=10)
    assert not held.allow("other")
    assert held.allow("A")
    assert not held.allow("A")


def test_a_rejection_ends_the_wait_whatever_the_others_say() -> None:
    held = waiting(A=10, B=20)
    assert held.reject("B", "no")
    assert held.outcome == Status(Code.UNSCHEDULABLE, ("no",), "B")
    assert not held.allow("A")
    assert not held.reject("A", "me too")
    assert not held.preempt("A", "late")
    assert held.outcome == Status(Code.UNSCHEDULABLE, ("no",), "B")


def test_preemption_ends_the_wait_as_an_error() -> None:
    held = waiting(A=10)
    assert held.preempt("DefaultPreemption", "preempted")
    assert held.outcome == Status(Code.ERROR, ("preempted",), "DefaultPreemption")


def test_the_first_deadline_to_pass_rejects_in_the_name_of_its_plugin() -> None:
    held = waiting(A=300, B=20)
    assert held.deadline == 120
    assert not held.expire(119.9)
    assert held.expire(500)
    assert held.outcome == Status(
        Code.UNSCHEDULABLE, ("rejected due to timeout after waiting 20s at plugin B",), "B"
    )
    assert not held.expire(600)


def test_a_plugin_that_allowed_has_no_deadline_any_more() -> None:
    held = waiting(A=300, B=20)
    held.allow("B")
    assert held.deadline == 400
    assert not held.expire(399)
    assert held.expire(400)
    assert held.outcome is not None
    assert held.outcome.reasons == ("rejected due to timeout after waiting 5m0s at plugin A",)


def test_nobody_waits_longer_than_a_quarter_of_an_hour() -> None:
    held = waiting(A=10 * MAX_WAIT_S)
    assert held.deadline == 100 + MAX_WAIT_S
    held.expire(100 + MAX_WAIT_S)
    assert held.outcome is not None
    assert held.outcome.reasons == ("rejected due to timeout after waiting 15m0s at plugin A",)


def test_the_table_finds_pods_by_uid_and_expires_them_all() -> None:
    table = WaitingPods()
    one = WaitingPod(pod("one"), "n", {"A": 5}, 0)
    two = WaitingPod(pod("two"), "n", {"A": 50}, 0)
    table.add(one)
    table.add(two)
    assert table.get(one.info.uid) is one
    assert list(table) == [one, two]
    table.expire(5)
    assert one.outcome is not None
    assert two.outcome is None
    table.remove(one.info.uid)
    table.remove(one.info.uid)
    assert table.get(one.info.uid) is None
    assert len(table) == 1
