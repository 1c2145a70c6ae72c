"""Preemption carried out: who is stopped in memory, who is evicted, and when the preemptor goes."""

from typing import Any

import pytest
from support.scheduler.framework.fake_plugins import permit, pre_bind

from podium.kubernetes.kinds.pod import PodCondition
from podium.scheduler.engine.requests import Preempt
from podium.scheduler.framework.points import PermitResult, Plugin, PreFlight
from podium.scheduler.framework.status import Code, Status
from podium.testing import FakeCluster, make_node, make_pod
from podium.testing import make_pod as pending

NODE = {"cpu": "2", "memory": "4Gi", "pods": 10}
ONE, TWO = {"cpu": "1"}, {"cpu": "2"}
WAIT = permit("Hold", PermitResult(Status(Code.WAIT), 60.0))
SLOW = pre_bind("Slow", PreFlight())
PREEMPTED = PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")


def preempting(*victims: str, **options: Any) -> tuple[FakeCluster, Preempt]:
    """A strong pod has asked for the eviction of weak ones."""
    driver = FakeCluster(make_node("n", allocatable=NODE), **options)
    for number, name in enumerate(victims):
        start = {"startTime": f"2026-01-01T00:00:0{number}Z"}
        driver.put(make_pod(name, node="n", requests=ONE, status=start))
    driver.put(pending("strong", requests=TWO, priority=10))
    driver.run()
    (request,) = driver.preemptions
    return driver, request


def evict(driver: FakeCluster, request: Preempt, name: str) -> None:
    victim = next(e.victim for e in request.evict if e.victim.key == f"default/{name}")
    driver.engine.preemptions.confirm_eviction(request.preemptor, victim, request.node_name)


def end(driver: FakeCluster, request: Preempt, problem: str | None = None) -> None:
    driver.engine.preemptions.finish_preemption(request.preemptor, problem)
    driver.collect()


# what is asked for


def test_victims_are_evicted_with_a_condition_and_the_node_is_nominated() -> None:
    driver, request = preempting("a", "b")
    assert (request.preemptor.key, request.node_name, request.clear) == ("default/strong", "n", ())
    assert [eviction.victim.key for eviction in request.evict] == ["default/a", "default/b"]
    assert {eviction.message for eviction in request.evict} == {
        "default-scheduler: preempting to accommodate a higher priority pod"
    }
    assert driver.where() == {"a": "n", "b": "n", "strong": "unschedulable"}
    assert driver.nominated() == {"strong": "n"}
    assert driver.patches[0].nominated_node == "n"
    assert driver.notes() == ["0/1 nodes are available: 1 Insufficient cpu."]
    assert "preempted" in driver.story("a")


def test_each_eviction_is_told_to_its_victim() -> None:
    driver, request = preempting("a", "b")
    evict(driver, request, "a")
    driver.collect()
    (event,) = [e for e in driver.events if e.reason == "Preempted"]
    assert (event.pod.key, event.type, event.action) == ("default/a", "Normal", "Preempting")
    assert event.note == "Preempted by pod uid-default-strong on node n"
    assert event.related is request.preemptor


def test_a_victim_that_was_gone_is_not_told() -> None:
    driver, request = preempting("a", "b")
    victim = request.evict[0].victim
    driver.engine.preemptions.confirm_eviction(request.preemptor, victim, "n", was_gone=True)
    driver.collect()
    assert driver.notes("Preempted") == []


def test_a_victim_that_is_terminating_already_is_left_alone() -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE))
    driver.put(*(make_pod(name, node="n", requests=ONE) for name in "ab"))
    driver.terminate("a")
    driver.put(pending("strong", requests=TWO, priority=10))
    driver.run()
    (request,) = driver.preemptions
    assert [eviction.victim.key for eviction in request.evict] == ["default/b"]


def test_when_all_victims_are_terminating_nothing_is_asked_and_nobody_held_back() -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE))
    driver.put(*(make_pod(name, node="n", requests=ONE) for name in "ab"))
    driver.terminate("a")
    driver.terminate("b")
    driver.put(pending("strong", requests=TWO, priority=10))
    driver.run()
    assert driver.preemptions == []
    assert driver.engine.state.preempting.last_victim("uid-default-strong") is None
    assert driver.nominated() == {"strong": "n"}


def test_weaker_pods_lose_their_nomination_to_the_node() -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), make_pod("a", node="n", requests=TWO))
    driver.put(
        pending("weak", requests=ONE, priority=1, preemptionPolicy="Never"),
        pending("memory", requests=ONE, priority=1, preemptionPolicy="Never"),
        pending("equal", requests=ONE, priority=10, preemptionPolicy="Never"),
    )
    driver.run()
    for name in ("weak", "equal"):
        driver.change(name, nominated_node_name="n")
    queued = driver.engine.queue.get("default/memory")
    assert queued is not None
    driver.engine.cluster.nominator.nominate(queued.info, "n")
    driver.put(pending("strong", requests=ONE, priority=10))
    driver.run()
    (request,) = driver.preemptions
    assert [other.key for other in request.clear] == ["default/weak"]


@pytest.mark.parametrize("is_asynchronous", [True, False])
def test_when_all_victims_are_terminating_only_synchronous_preemption_clears_nominations(
    *, is_asynchronous: bool
) -> None:
    gates = {"SchedulerAsyncPreemption": is_asynchronous}
    driver = FakeCluster(
        make_node("n", allocatable=NODE), make_pod("a", node="n", requests=TWO), gates=gates
    )
    driver.terminate("a")
    driver.put(pending("weak", requests=ONE, priority=1, preemptionPolicy="Never"))
    driver.run()
    driver.change("weak", nominated_node_name="n")
    driver.put(pending("strong", requests=ONE, priority=10))
    driver.run()
    cleared = [(tuple(p.key for p in each.clear), each.evict) for each in driver.preemptions]
    assert cleared == ([] if is_asynchronous else [(("default/weak",), ())])
    assert driver.nominated()["strong"] == "n"


# holding the preemptor back


def test_a_preemptor_is_held_back_until_its_last_victim_goes() -> None:
    driver, request = preempting("a", "b")
    driver.delete("a")
    assert driver.where() == {"b": "n", "strong": "gated"}
    evict(driver, request, "a")
    driver.put(make_pod("other", node="n"))
    driver.delete("other")
    assert driver.where() == {"b": "n", "strong": "gated"}
    driver.delete("b")
    assert driver.where() == {"strong": "backoff"}
    evict(driver, request, "b")
    end(driver, request)
    assert driver.run() == ["strong"]
    assert driver.where() == {"strong": "binding"}


def test_seeing_the_last_victim_terminate_is_enough() -> None:
    driver, request = preempting("a", "b")
    evict(driver, request, "a")
    driver.terminate("b")
    driver.delete("a")
    assert driver.where() == {"b": "n", "strong": "backoff"}
    end(driver, request)


def test_the_only_victim_is_the_last() -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), make_pod("a", node="n", requests=TWO))
    driver.put(pending("strong", requests=TWO, priority=10))
    driver.run()
    driver.delete("a")
    assert driver.where() == {"strong": "backoff"}


def test_new_nodes_do_not_help_a_preemptor_that_is_held_back() -> None:
    driver, request = preempting("a", "b")
    driver.delete("a")
    driver.put(make_node("m"))
    assert driver.where() == {"b": "n", "strong": "gated"}
    evict(driver, request, "a")
    driver.delete("b")
    end(driver, request)
    assert driver.where() == {"strong": "backoff"}


def test_after_the_end_the_preemptor_waits_for_its_victims_like_anybody() -> None:
    driver, request = preempting("a", "b")
    for name in ("a", "b"):
        evict(driver, request, name)
    end(driver, request)
    assert driver.where()["strong"] == "unschedulable"
    driver.delete("a")
    assert driver.where()["strong"] == "backoff"


def test_without_the_gate_a_preemptor_is_not_held_back() -> None:
    driver, _ = preempting("a", "b", gates={"SchedulerAsyncPreemption": False})
    driver.delete("a")
    assert driver.where() == {"b": "n", "strong": "backoff"}


def test_a_failed_eviction_brings_the_preemptor_forward() -> None:
    driver, request = preempting("a", "b")
    end(driver, request, "forbidden")
    assert driver.where()["strong"] == "active"
    driver.run()
    assert len(driver.preemptions) == 2


def test_a_preemptor_that_missed_the_going_of_all_its_victims_is_brought_forward() -> None:
    driver, request = preempting("a", "b")
    driver.delete("a")
    driver.delete("b")
    assert driver.where() == {"strong": "gated"}
    end(driver, request)
    assert driver.where() == {"strong": "active"}


def test_a_preemptor_held_back_while_victims_still_go_is_woken_by_them() -> None:
    driver, request = preempting("a", "b")
    driver.delete("a")
    end(driver, request)
    assert driver.where() == {"b": "n", "strong": "gated"}
    driver.delete("b")
    assert driver.where() == {"strong": "backoff"}


def test_a_preemptor_that_is_gone_is_not_brought_forward() -> None:
    driver, request = preempting("a", "b")
    driver.delete("strong")
    end(driver, request, "forbidden")
    assert driver.where() == {"a": "n", "b": "n"}
    assert driver.nominated() == {}


def test_the_nomination_protects_the_room_from_weaker_pods() -> None:
    driver, request = preempting("a", "b")
    for name in ("a", "b"):
        evict(driver, request, name)
        driver.delete(name)
    end(driver, request)
    driver.put(pending("sneaky", requests=ONE, priority=9))
    driver.put(pending("boss", requests=ONE, priority=11))
    driver.clock.advance(0.1)
    attempted = [driver.attempt(), driver.attempt()]
    assert [a.decision.pod.key for a in attempted if a] == ["default/boss", "default/sneaky"]
    assert driver.where()["boss"] == "binding"
    assert driver.where()["sneaky"] == "unschedulable"


def test_a_preemptor_does_not_preempt_again_while_its_victims_terminate() -> None:
    driver, request = preempting("a", "b")
    driver.change("strong", nominated_node_name="n")
    for name in ("a", "b"):
        evict(driver, request, name)
        driver.change(name, conditions=(PREEMPTED,))
        driver.terminate(name)
    end(driver, request)
    driver.put(make_node("m", allocatable={"cpu": "1", "pods": 1}))
    driver.engine.queue.activate([request.preemptor])
    driver.run()
    assert len(driver.preemptions) == 1
    assert driver.notes()[-1].endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."
    )
    assert driver.nominated() == {"strong": "n"}


# victims that exist in memory only


def in_memory(*plugins: type[Plugin]) -> FakeCluster:
    """A weak pod holds the node without being bound; a strong one comes."""
    driver = FakeCluster(make_node("n", allocatable=NODE), plugins=plugins)
    driver.put(pending("weak", requests=TWO))
    driver.run()
    driver.put(pending("strong", requests=TWO, priority=10))
    return driver


def test_a_victim_that_waits_at_permit_is_told_to_stop() -> None:
    driver = in_memory(WAIT)
    assert driver.where() == {"weak": "permit", "strong": "active"}
    driver.attempt()
    assert driver.preemptions == []
    assert driver.where() == {"weak": "error backoff", "strong": "backoff"}
    assert driver.notes("Preempted") == [
        "Preempted by pod uid-default-strong on node n (in kube-scheduler memory)."
    ]
    assert driver.notes()[-1] == "waiting on permit for pod: preempted"
    assert driver.engine.state.preempting.last_victim("uid-default-strong") is None
    driver.attempt()
    assert driver.where() == {"weak": "error backoff", "strong": "permit"}


def test_a_victim_in_pre_bind_is_cancelled_and_retried() -> None:
    driver = in_memory(SLOW)
    driver.attempt()
    assert driver.preemptions == []
    assert driver.where() == {"weak": "binding", "strong": "unschedulable"}
    assert driver.notes("Preempted")[0].endswith(" (in kube-scheduler memory).")
    problem = driver.run_binding("weak")
    assert problem is not None
    assert problem.message == "preempted by DefaultPreemption"
    driver.finish("weak", problem)
    assert driver.where() == {"weak": "error backoff", "strong": "backoff"}
    driver.run()
    assert driver.where() == {"weak": "error backoff", "strong": "binding"}


def test_a_victim_that_reached_bind_has_to_be_evicted() -> None:
    driver = in_memory(SLOW)
    assert driver.run_binding("weak") is None
    driver.attempt()
    (request,) = driver.preemptions
    assert [eviction.victim.key for eviction in request.evict] == ["default/weak"]


def test_a_victim_without_pre_bind_work_has_to_be_evicted() -> None:
    driver = in_memory()
    driver.attempt()
    (request,) = driver.preemptions
    assert [eviction.victim.key for eviction in request.evict] == ["default/weak"]
    driver.delete("weak")
    driver.finish("weak", Status(Code.ERROR, ("not found",)))
    assert driver.where() == {"strong": "backoff"}
    end(driver, request)


def test_a_victim_is_cancelled_for_as_many_preemptors_as_want_it() -> None:
    driver = in_memory(SLOW)
    driver.attempt()
    driver.put(pending("stronger", requests=TWO, priority=20))
    driver.attempt()
    assert driver.preemptions == []
    assert len(driver.notes("Preempted")) == 2


@pytest.mark.parametrize("weak_first", [True, False])
def test_victims_in_memory_and_on_the_node_are_each_treated_as_they_are(weak_first: bool) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), plugins=[WAIT])
    driver.put(make_pod("bound", node="n", requests=ONE, priority=0 if weak_first else 1))
    driver.put(pending("waits", requests=ONE, priority=1 if weak_first else 0))
    driver.run()
    assert driver.where() == {"bound": "n", "waits": "permit"}
    driver.put(pending("strong", requests=TWO, priority=10))
    driver.attempt()
    (request,) = driver.preemptions
    assert [eviction.victim.key for eviction in request.evict] == ["default/bound"]
    assert driver.where()["waits"] == "error backoff"
    driver.delete("bound")
    end(driver, request)
    assert driver.where()["strong"] == "backoff"


def test_victims_of_another_profile_are_found_and_the_condition_names_the_preemptors() -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), profiles=["default-scheduler", "second"])
    driver.put(make_pod("a", node="n", requests=TWO, schedulerName="default-scheduler"))
    driver.put(pending("strong", requests=TWO, priority=10, schedulerName="second"))
    driver.run()
    (request,) = driver.preemptions
    assert request.evict[0].message == "second: preempting to accommodate a higher priority pod"
