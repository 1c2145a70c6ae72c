"""What really happens to each member: every row of group result and member result."""

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
from support.scheduler.framework.fake_plugins import filter_by, reserve

from podium.scheduler.cluster.catalog import group_of
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import PermitPlugin, PermitResult, ReservePlugin
from podium.scheduler.framework.status import Code, Status, error, unschedulable

FAILED = "pod group is unschedulable"
WAITING = f"{FAILED}, pod group is waiting for preemption to complete"
OTHER = "failed to schedule other pod from a pod group: "


def breaks_for(name: str) -> type[ReservePlugin]:
    class Broken(ReservePlugin):
        name = "Broken"

        def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
            return error("boom") if cycle.pod.pod.metadata.name == broken else None

        def unreserve(self, cycle: Cycle, node_name: str) -> None:
            pass

    broken = name
    return Broken


def test_error_and_own_error_the_member_hears_its_own() -> None:
    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[breaks_for("q")])
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    own = 'running Reserve plugin "Broken": boom'
    assert driver.told() == {
        "p": ("SchedulerError", OTHER + own),
        "q": ("SchedulerError", own),
        "r": ("SchedulerError", OTHER + own),
    }
    assert driver.nominations_written() == {"p": "", "q": "", "r": ""}
    assert set(driver.where().values()) == {"error backoff"}
    assert driver.condition() == ("False", "SchedulerError", OTHER + own)


def test_error_clears_the_nomination_of_a_rejected_member() -> None:
    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[breaks_for("q")])
    driver.put(member("p", cpu=9, status={"nominatedNodeName": "a"}), member("q"))
    driver.run()
    own = 'running Reserve plugin "Broken": boom'
    assert driver.told()["p"] == ("SchedulerError", OTHER + own)
    assert driver.nominations_written()["p"] == ""
    assert driver.nominated() == {}


def test_success_and_success_the_member_is_held_again_and_bound() -> None:
    log: list[str] = []
    driver = GroupDriver(
        node("a"), make_group(), gates=GENERIC, plugins=[reserve("Book", None, log)]
    )
    driver.put(member("p"))
    driver.run()
    assert log == ["reserve Book a", "unreserve Book a", "reserve Book a"]
    assert driver.where() == {"p": "binding"}
    driver.bound("p")
    assert driver.notes("Scheduled") == ["Successfully assigned default/p to a"]
    assert driver.condition() == ("True", "Scheduled", "")


def test_success_and_rejection_the_member_hears_its_own() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p"), member("q"))
    driver.run()
    assert driver.where() == {"p": "binding", "q": "backoff"}
    assert driver.told() == {
        "q": (
            "Unschedulable",
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption:"
            " 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        )
    }
    assert driver.condition() == ("True", "Scheduled", "")


class Twice(PermitPlugin):
    """Lets a pod go in the try of its group, and has another answer when it comes for good."""

    name = "Twice"
    answer: PermitResult

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        if cycle.group is not None or cycle.pod.pod.metadata.name != "p":
            return None
        return self.answer


@pytest.mark.parametrize(
    ("status", "told", "where"),
    [
        (
            unschedulable("changed my mind"),
            ("Unschedulable", "0/1 nodes are available: 1 changed my mind."),
            "backoff",
        ),
        (
            error("boom"),
            ("SchedulerError", 'running Permit plugin "Twice": boom'),
            "error backoff",
        ),
    ],
)
def test_success_and_a_failure_when_held_for_good_concerns_that_member_only(
    status: Status, told: tuple[str, str], where: str
) -> None:
    class Plugin(Twice):
        answer = PermitResult(status)

    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[Plugin])
    driver.put(member("p"), member("q"))
    driver.run()
    assert driver.where() == {"p": where, "q": "binding"}
    assert driver.told() == {"p": told}
    assert driver.nominations_written() == {"p": ""}
    assert driver.condition() == ("True", "Scheduled", "")


def test_success_and_a_wait_when_held_for_good_the_member_waits_at_permit() -> None:
    class Plugin(Twice):
        answer = PermitResult(Status(Code.WAIT, ("later",)), 60.0)

    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[Plugin])
    driver.put(member("p"))
    driver.run()
    assert driver.where() == {"p": "permit"}
    driver.wait(61)
    assert driver.told()["p"] == (
        "Unschedulable",
        "0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Twice.",
    )


def test_a_gang_that_loses_a_member_at_the_last_moment_waits_and_gives_up() -> None:
    class Fickle(ReservePlugin):
        name = "Fickle"
        asked = 0

        def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
            if cycle.pod.pod.metadata.name != "p":
                return None
            self.asked += 1
            return unschedulable("no") if self.asked > 1 else None

        def unreserve(self, cycle: Cycle, node_name: str) -> None:
            pass

    driver = GroupDriver(node("a", 4), make_group(min_count=3), plugins=[Fickle])
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    assert driver.where() == {"p": "backoff", "q": "permit", "r": "permit"}
    driver.wait(300)
    text = (
        "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin"
        " GangScheduling."
    )
    assert {name: driver.told()[name] for name in "qr"} == dict.fromkeys(
        "qr", ("Unschedulable", text)
    )


def test_a_try_that_completes_the_gang_lets_those_go_that_wait_already() -> None:
    """upstream: Permit does not know that the try of a group is not for good."""

    class Plugin(Twice):
        answer = PermitResult(unschedulable("changed my mind"))

    driver = GroupDriver(node("a", 4), make_group(min_count=3), plugins=[Plugin])
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    assert driver.where() == {"p": "backoff", "q": "binding", "r": "binding"}


def test_success_and_required_preemption_without_leave_the_member_hears_of_permit() -> None:
    class OneOnly(PermitPlugin):
        name = "OneOnly"

        def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
            if cycle.pod.pod.metadata.name == "p":
                return None
            return PermitResult(Status(Code.WAIT, ("one is enough",)), 60.0)

    driver = GroupDriver(
        node("a", 2), running("old", "a"), make_group(), gates=GENERIC, plugins=[OneOnly]
    )
    driver.put(member("p", priority=5), member("q", priority=5))
    driver.run()
    assert driver.where()["p"] == "binding"
    assert driver.told() == {
        "q": (
            "Unschedulable",
            f"{FAILED}, one is enough,"
            " one or more plugins asked to wait and no plugin rejected pod",
        )
    }
    assert driver.nominations_written() == {"q": ""}


def test_waiting_and_success_the_member_reserves_its_node() -> None:
    driver = GroupDriver(node("a", 2), running("old", "a"), make_group(min_count=2))
    driver.put(member("p", priority=5), member("q", priority=5))
    driver.run()
    first, second = (p.pod.pod.metadata.name for p in driver.patches)
    assert driver.told() == {
        first: ("Unschedulable", WAITING),
        second: ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu."),
    }
    assert driver.nominations_written() == {first: "a", second: "a"}
    assert driver.nominated() == {first: "a", second: "a"}
    assert driver.condition() == ("False", "Unschedulable", WAITING)
    assert driver.where() == {first: "error backoff", second: "gated", "old": "a"}


def test_waiting_and_rejection_the_member_hears_its_own() -> None:
    driver = GroupDriver(node("a", 1), running("old", "a"), make_group(), gates=GENERIC)
    driver.put(member("p", priority=5), member("q", priority=5, cpu=9))
    driver.run()
    assert driver.told()["q"] == (
        "Unschedulable",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate,"
        " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )
    assert driver.nominations_written() == {"p": "a", "q": ""}
    assert driver.condition()[2] == WAITING


def test_unschedulable_and_success_the_member_hears_what_it_would_have_waited_for() -> None:
    driver = GroupDriver(node("a", 1), make_group(min_count=2))
    driver.put(member("p", status={"nominatedNodeName": "a"}), member("q", cpu=9))
    driver.run()
    assert driver.told()["p"] == ("Unschedulable", f"{FAILED}, {TOO_FEW}")
    assert driver.nominations_written() == {"p": "", "q": ""}
    assert driver.nominated() == {}
    assert driver.where() == {"p": "error backoff", "q": "backoff"}
    assert driver.condition() == ("False", "Unschedulable", FAILED)


def test_unschedulable_and_required_preemption_the_member_hears_the_same() -> None:
    driver = GroupDriver(node("a", 1), running("old", "a"), make_group(min_count=2))
    driver.put(member("p", priority=5), member("q", priority=5, cpu=9))
    driver.run()
    assert driver.told()["p"] == ("Unschedulable", f"{FAILED}, {TOO_FEW}")
    assert driver.nominations_written()["p"] == ""


def test_unschedulable_and_rejection_the_member_hears_its_own() -> None:
    refuses = filter_by("Refuses", {"a": unschedulable("no")})
    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[refuses])
    driver.put(member("p"))
    driver.run()
    assert driver.told()["p"][1].startswith("0/1 nodes are available: 1 no. no new claims")
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert (queued.rejectors, queued.unschedulable_count) == ({"Refuses"}, 1)


def test_events_and_conditions_come_member_by_member_and_the_groups_last() -> None:
    driver = GroupDriver(node("a", 1), make_group(min_count=2))
    driver.put(member("p"), member("q"))
    engine = driver.engine
    engine.schedule_next()
    kinds = [type(request).__name__ for request in engine.take_requests()]
    assert kinds == ["Event", "PatchStatus", "Event", "PatchStatus", "PatchPodGroupStatus"]


def test_a_gang_that_did_not_fit_is_tried_again_as_a_whole() -> None:
    driver = GroupDriver(node("a", 1), make_group(min_count=2))
    driver.put(member("p"), member("q"))
    driver.run()
    driver.put(node("b", 1))
    driver.wait(2)
    driver.run()
    assert set(driver.where().values()) == {"binding"}
    assert driver.condition() == ("True", "Scheduled", "")


def test_a_member_deleted_at_permit_leaves_its_group() -> None:
    class Plugin(Twice):
        answer = PermitResult(Status(Code.WAIT, ("later",)), 60.0)

    driver = GroupDriver(node("a"), make_group(), gates=GENERIC, plugins=[Plugin])
    driver.put(member("p"), member("q"))
    driver.run()
    driver.delete("p")
    driver.wait(0)
    group = driver.engine.cluster.pod_groups.get(("default", "g"))
    assert (len(group), group.scheduled_count) == (1, 1)
    assert driver.where() == {"q": "binding"}


def test_a_binding_that_fails_returns_the_member_to_its_group() -> None:
    driver = GroupDriver(node("a"), make_group(min_count=2))
    driver.put(member("p"), member("q"))
    driver.run()
    driver.bound("q")
    driver.finish("p", error('running Bind plugin "DefaultBinder": down'))
    group = driver.engine.cluster.pod_groups.get(("default", "g"))
    assert ([i.pod.metadata.name for i in group.unscheduled_pods()], group.scheduled_count) == (
        ["p"],
        1,
    )
    assert driver.where() == {"p": "error backoff", "q": "a"}
    driver.wait(2)
    driver.run()
    assert driver.where() == {"p": "binding", "q": "a"}


def test_a_pod_bound_by_somebody_else_while_pending_counts_for_the_gang() -> None:
    driver = GroupDriver(node("a"), make_group(min_count=2))
    driver.put(member("p"))
    driver.confirm("p", "a")
    driver.put(member("q"))
    driver.run()
    assert driver.where() == {"p": "a", "q": "binding"}
    assert group_of(driver.pod("p")) == ("default", "g")
