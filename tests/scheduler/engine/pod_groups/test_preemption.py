"""A group that preempts as a whole: who goes, what is written, what its members hear."""

from typing import Any

from support.scheduler.engine.group_driver import (
    EVERYTHING,
    PREEMPTING,
    GroupDriver,
    make_group,
    member,
    node,
    running,
)
from support.scheduler.framework.fake_plugins import post_filter

from podium.kubernetes.kinds.meta import KubeStruct
from podium.scheduler.cluster.growth import Rows
from podium.scheduler.engine.requests import GroupPreemptor
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.points import (
    FilterPlugin,
    PermitPlugin,
    PermitResult,
    PostFilterResult,
)
from podium.scheduler.framework.status import Code, Status
from podium.testing import make_pod as pending

FAILED = "pod group is unschedulable"


def driver_of(*objects: KubeStruct, **more: Any) -> GroupDriver:
    return GroupDriver(*objects, **{"gates": PREEMPTING, **more})


def victims(driver: GroupDriver) -> list[str]:
    (request,) = driver.group_preemptions
    return [eviction.victim.pod.metadata.name for eviction in request.evict]


def full() -> GroupDriver:
    """Two nodes full of weak pods, and a strong gang of two."""
    driver = driver_of(
        node("a", 1),
        node("b", 1),
        running("x", "a"),
        running("y", "b", priority=1),
        make_group(min_count=2, priority=10),
    )
    driver.put(member("p", priority=10), member("q", priority=10))
    return driver


def test_members_do_not_preempt_by_themselves() -> None:
    driver = full()
    driver.run()
    assert driver.preemptions == []
    assert driver.told()["p"] == (
        "Unschedulable",
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate,"
        " preemption: not eligible due to workload aware preemption enabled",
    )


def test_all_that_have_to_leave_are_asked_to_at_once() -> None:
    driver = full()
    driver.run()
    (request,) = driver.group_preemptions
    assert victims(driver) == ["y", "x"]
    assert {e.message for e in request.evict} == {
        "default-scheduler: preempting to accommodate a higher priority podgroup"
    }
    assert (request.node_name, request.clear) == ("cluster", ())
    assert isinstance(request.preemptor, GroupPreemptor)
    assert (request.preemptor.key, request.preemptor.uid) == ("default/g", "uid-g")
    assert [p.key for p in request.preemptor.members] == ["default/q", "default/p"]
    assert driver.condition() == ("False", "Unschedulable", FAILED)


def test_only_as_many_leave_as_have_to() -> None:
    driver = driver_of(node("a", 3), running("x", "a"), running("y", "a", priority=5))
    driver.put(make_group(min_count=2, priority=10), member("p"), member("q"))
    driver.run()
    assert victims(driver) == ["x"]


def test_the_priority_of_the_group_counts_not_that_of_its_members() -> None:
    driver = driver_of(node("a", 1), running("x", "a", priority=5), make_group(priority=3))
    driver.put(member("p", priority=100))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.condition()[2] == f"{FAILED}, No preemption victims found for incoming preemptor"


def test_a_group_that_fits_preempts_nobody() -> None:
    driver = driver_of(node("a", 2), running("x", "a"), make_group(priority=10))
    driver.put(member("p"))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.where() == {"x": "a", "p": "binding"}


def test_where_preemption_does_not_help_its_reason_is_added() -> None:
    driver = driver_of(node("a", 1), running("x", "a"), make_group(min_count=2, priority=10))
    driver.put(member("p"), member("q"))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.condition() == ("False", "Unschedulable", f"{FAILED}, {FAILED}")


def test_a_member_that_never_preempts_keeps_the_group_from_it() -> None:
    driver = driver_of(node("a", 1), running("x", "a"), make_group(priority=10))
    driver.put(member("p", preemptionPolicy="Never"))
    driver.run()
    assert driver.condition()[2] == f"{FAILED}, not eligible due to preemptionPolicy=Never."


def test_without_default_preemption_nobody_preempts() -> None:
    driver = driver_of(
        node("a", 1), running("x", "a"), make_group(priority=10), disabled=["DefaultPreemption"]
    )
    driver.put(member("p"))
    driver.run()
    assert driver.condition()[2] == (
        f"{FAILED}, default preemption plugin is not registered,"
        " workload aware preemption is disabled"
    )


def test_a_group_that_is_gone_is_an_error_for_all() -> None:
    driver = driver_of(node("a", 1), running("x", "a"), disabled=["GangScheduling"])
    driver.put(member("p"))
    driver.run()
    text = 'failed to get pod group object: podgroup.scheduling.k8s.io "g" not found'
    assert driver.told() == {"p": ("SchedulerError", text)}
    assert driver.group_patches == []


class AfraidOfVoid(FilterPlugin):
    """Breaks on a node without pods, which is what a preemptor imagines."""

    name = "AfraidOfVoid"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if not cycle.usage.pod_count[rows].all():
            raise RuntimeError("boom")
        return None


def test_a_try_that_breaks_is_an_error_for_all() -> None:
    driver = driver_of(
        node("a", 1), running("x", "a"), make_group(priority=10), plugins=[AfraidOfVoid]
    )
    driver.put(member("p"))
    driver.run()
    text = (
        'failed to schedule other pod from a pod group: running "AfraidOfVoid" filter plugin: boom'
    )
    assert driver.told() == {"p": ("SchedulerError", text)}
    assert driver.condition() == ("False", "SchedulerError", text)
    assert driver.group_preemptions == []


def test_members_that_fit_already_keep_their_nodes_in_mind_while_the_group_waits() -> None:
    driver = driver_of(
        node("a", 1), node("b", 1), running("x", "a"), make_group(min_count=2, priority=10)
    )
    driver.put(member("p"), member("q"))
    driver.run()
    told = driver.told()
    fits, fails = sorted(told, key=lambda name: "Insufficient" in told[name][1])
    assert told[fits] == ("Unschedulable", FAILED)
    assert driver.nominations_written() == {fits: "b", fails: None}
    assert driver.nominated() == {fits: "b"}
    assert victims(driver) == ["x"]


def test_members_are_held_back_until_the_last_victim_is_on_its_way() -> None:
    driver = full()
    driver.run()
    assert driver.where() == {"p": "gated", "q": "gated", "x": "a", "y": "b"}
    status = driver.engine.pre_enqueue(driver.engine.cluster.infos.of(driver.pod("p")))
    assert status is not None
    assert status.message == "waiting for the preemption for this pod group to be finished"
    (request,) = driver.group_preemptions
    preemptions = driver.engine.preemptions
    for eviction in request.evict:
        preemptions.confirm_eviction(request.preemptor, eviction.victim, request.node_name)
        driver.delete(eviction.victim.pod.metadata.name)
    preemptions.finish_preemption(request.preemptor, None)
    driver.collect()
    assert driver.engine.pre_enqueue(driver.engine.cluster.infos.of(driver.pod("p"))) is None
    driver.wait(2)
    driver.run()
    assert driver.where() == {"p": "binding", "q": "binding"}
    assert driver.condition() == ("True", "Scheduled", "")


def test_victims_hear_which_group_took_their_place() -> None:
    driver = full()
    driver.run()
    (request,) = driver.group_preemptions
    victim = request.evict[0].victim
    driver.engine.preemptions.confirm_eviction(request.preemptor, victim, request.node_name)
    driver.collect()
    (event,) = [e for e in driver.events if e.reason == "Preempted"]
    assert event.note == "Preempted by podgroup uid-g on node cluster"
    assert event.related is request.preemptor.group
    assert (event.pod, event.type, event.action) == (victim, "Normal", "Preempting")


def test_a_preemption_that_fails_lets_all_members_try_again() -> None:
    driver = full()
    driver.run()
    (request,) = driver.group_preemptions
    driver.engine.preemptions.finish_preemption(request.preemptor, "the API server is down")
    assert driver.where() == {"p": "active", "q": "active", "x": "a", "y": "b"}


class Hold(PermitPlugin):
    """Lets nobody go who is not in a hurry."""

    name = "Hold"

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        if cycle.pod.pod.metadata.name != "slow":
            return None
        return PermitResult(Status(Code.WAIT, ("no hurry",)), 600.0)


def test_victims_that_only_wait_are_stopped_in_memory() -> None:
    driver = driver_of(node("a", 1), make_group(priority=10), plugins=[Hold])
    driver.put(pending("slow", requests={"cpu": 1}))
    driver.run()
    assert driver.where() == {"slow": "permit"}
    driver.put(member("p"))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.notes("Preempted") == [
        "Preempted by podgroup uid-g on node cluster (in kube-scheduler memory)."
    ]
    assert driver.told()["slow"] == (
        "SchedulerError",
        "waiting on permit for pod: preempted",
    )
    assert driver.where()["slow"] == "error backoff"
    driver.wait(2)
    driver.run()
    assert driver.where()["p"] == "binding"


def test_nobody_else_makes_room_while_the_group_is_tried_without_its_victims() -> None:
    log: list[str] = []
    asked = post_filter("Asked", PostFilterResult(Code.UNSCHEDULABLE, ("no",)), log)
    driver = driver_of(
        node("a", 1), running("x", "a"), make_group(min_count=2, priority=10), plugins=[asked]
    )
    driver.put(member("p"), member("q"))
    driver.run()
    assert driver.condition()[2] == f"{FAILED}, {FAILED}"
    assert log == ["Asked", "Asked"]


def test_pods_that_belong_together_go_together() -> None:
    weak = make_group("weak", disruptionMode="PodGroup", priority=1)
    driver = driver_of(node("a", 2), node("b", 2), weak, make_group(priority=10))
    driver.put(*(member(f"w{n}", "weak", node=n, cpu=2) for n in "ab"))
    driver.put(member("p"))
    driver.run()
    assert victims(driver) == ["wa", "wb"]


def test_a_lonely_pod_still_preempts_on_one_node() -> None:
    driver = driver_of(node("a", 1), running("x", "a"))
    driver.put(pending("alone", requests={"cpu": 1}, priority=5))
    driver.run()
    (request,) = driver.preemptions
    assert request.node_name == "a"
    assert driver.group_preemptions == []


def test_with_placements_a_free_group_preempts_the_same() -> None:
    driver = driver_of(node("a", 1), running("x", "a"), make_group(priority=10), gates=EVERYTHING)
    driver.put(member("p"))
    driver.run()
    assert victims(driver) == ["x"]
    text = "0/1 placements are available, first placement status: pod group is unschedulable"
    assert driver.condition() == ("False", "Unschedulable", text)


def test_victims_already_leaving_are_asked_nothing() -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    driver = driver_of(node("a", 1), running("x", "a", metadata=going), make_group(priority=10))
    driver.put(member("p"))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.told()["p"][0] == "Unschedulable"
    assert driver.where() == {"p": "backoff", "x": "a"}
