"""Pods that wait for an event, found by who keeps them waiting."""

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfos
from podium.scheduler.engine.queue.contents import UnschedulablePool
from podium.scheduler.framework.queued import QueuedPod
from podium.testing import make_pod

INFOS = PodInfos(ALL_REQUESTS)


def waiting(name: str, *rejectors: str) -> QueuedPod:
    return QueuedPod(INFOS.of(make_pod(name)), 0.0, rejectors=set(rejectors))


def names(pods: list[QueuedPod]) -> list[str]:
    return [queued.info.pod.metadata.name for queued in pods]


def test_only_pods_kept_by_one_of_the_plugins_are_found_in_order_of_arrival() -> None:
    pool = UnschedulablePool()
    for queued in (waiting("c", "Fit"), waiting("a", "Spread", "Fit"), waiting("b", "Taint")):
        pool.put(queued)

    assert names(pool.kept_by(frozenset({"Fit"}))) == ["c", "a"]
    assert names(pool.kept_by(frozenset({"Taint", "Spread"}))) == ["a", "b"]
    assert names(pool.kept_by(frozenset())) == []


def test_a_pod_that_nobody_keeps_is_always_found() -> None:
    pool = UnschedulablePool()
    pool.put(waiting("free"))

    assert names(pool.kept_by(frozenset({"Fit"}))) == ["free"]


def test_a_pod_with_new_rejectors_keeps_its_place() -> None:
    pool = UnschedulablePool()
    first, second = waiting("first", "Fit"), waiting("second", "Fit")
    pool.put(first)
    pool.put(second)
    first.rejectors = {"Taint"}
    pool.put(first)

    assert names(pool.kept_by(frozenset({"Fit"}))) == ["second"]
    assert names(pool.kept_by(frozenset({"Fit", "Taint"}))) == ["first", "second"]


def test_a_pod_that_left_is_not_found_again() -> None:
    pool = UnschedulablePool()
    pool.put(waiting("gone", "Fit"))

    assert pool.pop("default/gone") is not None
    assert pool.pop("default/gone") is None
    assert len(pool) == 0
    assert names(pool.kept_by(frozenset({"Fit"}))) == []
