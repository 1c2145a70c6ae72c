"""The default algorithm: each row of what a member's outcome means for its group."""

from typing import Any

import pytest
from support.scheduler.engine.group_driver import (
    GENERIC,
    TOO_FEW,
    GroupDriver,
    make_group,
    member,
    node,
    running,
)
from support.scheduler.framework.fake_plugins import filter_by, permit, post_filter, reserve

from podium.kubernetes.kinds.meta import KubeStruct
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.pod_groups.algorithm import GroupAlgorithm, GroupResult
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.asking import drive
from podium.scheduler.framework.cycle import Cycle, PodGroupCycle
from podium.scheduler.framework.points import PermitPlugin, PermitResult, Plugin, PostFilterResult
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status, error, unschedulable

GROUP_FAILED = ("pod group is unschedulable",)
WAITING = (*GROUP_FAILED, "pod group is waiting for preemption to complete")
WAIT = PermitResult(Status(Code.WAIT, ("not yet",)), 60.0)


def make(*objects: KubeStruct, **more: Any) -> GroupDriver:
    """Without checks of the whole state: the algorithm is run apart from the rest here."""
    return GroupDriver(*objects, validate=False, **more)


def try_group(driver: GroupDriver, *names: str) -> GroupResult:
    """Run the algorithm alone; the members stay where they are."""
    engine = driver.engine
    algorithm = GroupAlgorithm(
        engine.state,
        engine._cycle,
        engine._reservations,
        engine.preemptions,
        FirstByName(),
    )
    members = [QueuedPod(engine.cluster.infos.of(driver.pod(name)), 0.0) for name in names]
    cycle = PodGroupCycle(("default", "g"), engine.cluster)
    before = looked_at(driver)
    result = drive(algorithm.run_algorithm(engine.first_profile, cycle, members))
    assert looked_at(driver) == before
    return result


def looked_at(driver: GroupDriver) -> object:
    cluster = driver.engine.cluster
    group = cluster.pod_groups.get(("default", "g"))
    return (
        cluster.usage.requested.tolist(),
        [[p.key for p in cluster.usage.pods(row)] for row in range(cluster.nodes.size)],
        {uid: held.row for uid, held in cluster.placements.items()},
        sorted(info.key for info in group.unscheduled_pods()),
    )


def outcome(result: GroupResult) -> dict[str, tuple[str, bool, bool]]:
    """Member -> (node, requires preemption, Permit let it go)."""
    return {
        m.queued.info.pod.metadata.name: (m.node_name, m.requires_preemption, m.permit is None)
        for m in result.members
    }


def test_a_group_starts_out_unschedulable() -> None:
    driver = make(node("a", 0), make_group(), gates=GENERIC)
    driver.put(member("p"))
    result = try_group(driver, "p")
    assert result.status is not None
    assert (result.status.code, result.status.reasons) == (Code.UNSCHEDULABLE, GROUP_FAILED)
    assert not result.waiting_on_preemption
    assert outcome(result) == {"p": ("", False, True)}


def test_one_member_that_may_go_makes_a_basic_group_fit() -> None:
    driver = make(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("big", cpu=5), member("p"), member("q"))
    result = try_group(driver, "big", "p", "q")
    assert result.status is None
    assert outcome(result) == {
        "big": ("", False, True),
        "p": ("a", False, True),
        "q": ("", False, True),
    }


def test_a_gang_fits_with_the_member_that_completes_it() -> None:
    driver = make(node("a", 2), make_group(min_count=2))
    driver.put(member("p"), member("q"), member("r"))
    result = try_group(driver, "p", "q", "r")
    assert result.status is None
    assert outcome(result) == {
        "p": ("a", False, False),
        "q": ("a", False, True),
        "r": ("", False, True),
    }


def test_a_gang_that_stays_incomplete_keeps_waiting_and_does_not_fit() -> None:
    driver = make(node("a", 2), make_group(min_count=3))
    driver.put(member("p"), member("q"), member("r"))
    result = try_group(driver, "p", "q", "r")
    assert result.status == Status(Code.UNSCHEDULABLE, GROUP_FAILED)
    assert [m.permit.message if m.permit else "" for m in result.members] == [TOO_FEW, TOO_FEW, ""]


def test_a_rejected_member_is_recorded_and_the_next_one_tried() -> None:
    driver = make(node("a", 2), make_group(), gates=GENERIC)
    driver.put(member("p", cpu=9), member("q"))
    result = try_group(driver, "p", "q")
    assert result.members[0].decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate,"
        " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    assert result.members[1].succeeded


def test_an_error_stops_the_group_there() -> None:
    broken = filter_by("Broken", RuntimeError("boom"))
    driver = make(node("a"), make_group(), gates=GENERIC, plugins=[broken])
    driver.put(member("p"), member("q"))
    result = try_group(driver, "p", "q")
    assert result.status == error(
        'failed to schedule other pod from a pod group: running "Broken" filter plugin: boom'
    )
    assert [m.queued.info.pod.metadata.name for m in result.members] == ["p"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (error("boom"), 'running Permit plugin "Gate": boom'),
        (RuntimeError("boom"), 'running Permit plugin "Gate": boom'),
    ],
)
def test_an_error_at_permit_stops_the_group_too(answer: Status | Exception, text: str) -> None:
    result_of = PermitResult(answer) if isinstance(answer, Status) else answer
    driver = make(node("a"), gates=GENERIC, plugins=[permit("Gate", result_of)])
    driver.put(member("p"))
    result = try_group(driver, "p")
    assert result.status == error(f"failed to schedule other pod from a pod group: {text}")
    assert result.members[0].decision.message == text


def test_an_error_after_a_fitting_member_takes_everything_back() -> None:
    class Fussy(PermitPlugin):
        name = "Fussy"

        def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
            broken = cycle.pod.pod.metadata.name == "q"
            return PermitResult(error("boom")) if broken else None

    nominating = post_filter("Room", PostFilterResult(Code.SUCCESS, nominated_node="a"))
    driver = make(
        node("a", 0),
        gates=GENERIC,
        plugins=[Fussy, nominating],
        disabled=["DefaultPreemption", "DynamicResources"],
    )
    driver.put(member("p"), member("q"))
    result = try_group(driver, "p", "q")
    assert result.broken
    assert not result.waiting_on_preemption


@pytest.mark.parametrize("point", ["Reserve", "Permit"])
def test_a_member_refused_at_reserve_or_permit_is_rejected_on_its_one_node(point: str) -> None:
    no = unschedulable("not here")
    plugin: type[Plugin] = (
        reserve("Gate", no, []) if point == "Reserve" else permit("Gate", PermitResult(no))
    )
    driver = make(node("a"), gates=GENERIC, plugins=[plugin])
    driver.put(member("p"))
    result = try_group(driver, "p")
    decision = result.members[0].decision
    assert decision.message == "0/1 nodes are available: 1 not here."
    assert (decision.rejectors, decision.nominated_node) == ({"Gate"}, "")
    assert result.status == Status(Code.UNSCHEDULABLE, GROUP_FAILED)


def test_a_member_that_needs_preemption_is_held_beside_its_victims() -> None:
    driver = make(node("a", 1), running("old", "a"), make_group(), gates=GENERIC)
    driver.put(member("p", priority=10))
    result = try_group(driver, "p")
    assert outcome(result) == {"p": ("a", True, True)}
    assert result.status == Status(Code.UNSCHEDULABLE, WAITING)
    assert result.status.message == (
        "pod group is unschedulable, pod group is waiting for preemption to complete"
    )
    assert result.waiting_on_preemption


def test_one_member_that_needs_preemption_makes_the_whole_group_wait() -> None:
    driver = make(node("a", 2), running("old", "a"), make_group(min_count=2))
    driver.put(member("p", priority=10), member("q", priority=10))
    result = try_group(driver, "p", "q")
    assert outcome(result) == {"p": ("a", False, False), "q": ("a", True, True)}
    assert result.waiting_on_preemption


def test_a_later_member_that_needs_preemption_turns_a_fitting_group_into_a_waiting_one() -> None:
    driver = make(node("a", 2), running("old", "a"), make_group(), gates=GENERIC)
    driver.put(member("p", priority=10), member("q", priority=10))
    result = try_group(driver, "p", "q")
    assert outcome(result) == {"p": ("a", False, True), "q": ("a", True, True)}
    assert result.status == Status(Code.UNSCHEDULABLE, WAITING)


def test_a_group_keeps_waiting_when_a_later_member_fits_as_things_are() -> None:
    driver = make(node("a", 2), node("b", 1), running("old", "a", cpu=2), make_group(min_count=2))
    driver.put(member("p", priority=10, cpu=2), member("q", priority=10))
    result = try_group(driver, "p", "q")
    assert outcome(result) == {"p": ("a", True, False), "q": ("b", False, True)}
    assert result.waiting_on_preemption


def test_an_incomplete_gang_does_not_wait_for_preemption() -> None:
    driver = make(node("a", 1), running("old", "a"), make_group(min_count=2))
    driver.put(member("p", priority=10), member("q", priority=10, cpu=9))
    result = try_group(driver, "p", "q")
    assert outcome(result) == {"p": ("a", True, False), "q": ("", False, True)}
    assert result.status == Status(Code.UNSCHEDULABLE, GROUP_FAILED)
    assert not result.waiting_on_preemption


def test_victims_of_a_member_go_even_if_the_group_does_not_fit() -> None:
    driver = make(node("a", 1), running("old", "a"), make_group(min_count=2))
    driver.put(member("p", priority=10), member("q", priority=10, cpu=9))
    driver.run()
    (request,) = driver.preemptions
    assert [e.victim.pod.metadata.name for e in request.evict] == ["old"]
    assert driver.condition() == ("False", "Unschedulable", "pod group is unschedulable")


def test_a_plugin_that_nominates_without_success_counts_as_well() -> None:
    nominating = post_filter("Room", PostFilterResult(Code.UNSCHEDULABLE, ("soon",), "a"))
    driver = make(
        node("a", 0),
        make_group(),
        gates=GENERIC,
        plugins=[nominating],
        disabled=["DefaultPreemption", "DynamicResources"],
    )
    driver.put(member("p"))
    assert outcome(try_group(driver, "p")) == {"p": ("a", True, True)}
    assert driver.preemptions == []


def test_members_after_one_that_preempts_see_it_and_its_victims() -> None:
    driver = make(node("a", 1), node("b", 1), running("old", "a"), make_group(), gates=GENERIC)
    driver.put(running("other", "b"))
    driver.put(member("p", priority=10), member("q", priority=10))
    result = try_group(driver, "p", "q")
    assert sorted(outcome(result).values()) == [("a", True, True), ("b", True, True)]


def test_reserve_is_undone_last_in_first_out() -> None:
    log: list[str] = []

    class Named(reserve("Book", None, log)):  # type: ignore[misc]
        name = "Book"

        def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
            log.append(f"+{cycle.pod.pod.metadata.name}")
            return None

        def unreserve(self, cycle: Cycle, node_name: str) -> None:
            log.append(f"-{cycle.pod.pod.metadata.name}")

    driver = make(node("a"), make_group(), gates=GENERIC, plugins=[Named])
    driver.put(member("p"), member("q"))
    try_group(driver, "p", "q")
    assert log == ["+p", "+q", "-q", "-p"]


def test_every_waiting_plugin_is_heard_and_the_last_one_quoted() -> None:
    second = PermitResult(Status(Code.WAIT, ("nor now",)), 30.0)
    plugins = [permit("One", WAIT), permit("Two", second)]
    driver = make(node("a"), gates=GENERIC, plugins=plugins)
    driver.put(member("p"))
    (found,) = try_group(driver, "p").members
    assert found.permit == Status(
        Code.WAIT,
        ("nor now", "one or more plugins asked to wait and no plugin rejected pod"),
        "Two",
    )
    assert (found.decision.waits_s, found.decision.bound) == ({}, None)


def nominated(driver: GroupDriver, name: str) -> PodInfo:
    return driver.engine.cluster.infos.of(driver.pod(name))


def test_a_dropped_nomination_is_restored_from_the_object() -> None:
    driver = make(node("a"), node("b"), make_group(min_count=3))
    driver.put(member("q"), member("r", cpu=9))
    driver.put(member("p", status={"nominatedNodeName": "b"}))
    assert driver.nominated() == {"p": "b"}
    result = try_group(driver, "p", "q")
    assert result.members[0].node_name == "b"
    assert driver.nominated() == {"p": "b"}


def test_a_nomination_that_only_memory_knows_is_lost_with_the_try() -> None:
    driver = make(node("a"), make_group(min_count=2))
    driver.put(member("p"), member("q", cpu=9))
    driver.engine.cluster.nominator.nominate(nominated(driver, "p"), "a")
    try_group(driver, "p")
    assert driver.nominated() == {}


def test_members_in_flight_do_not_reserve_their_nominated_nodes() -> None:
    driver = make(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p"))
    driver.put(member("q", status={"nominatedNodeName": "a"}))
    driver.run()
    assert driver.where() == {"p": "binding", "q": "backoff"}
