"""What comes in about groups: events that wake, and those that do not while groups are off."""

from support.scheduler.engine.group_driver import (
    GANGS,
    GENERIC,
    GroupDriver,
    make_group,
    member,
    node,
)

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.points import PreEnqueuePlugin
from podium.scheduler.framework.status import Status, unresolvable
from podium.testing import FakeCluster
from podium.testing import make_pod as pending

GROUP_ADDED = ClusterEvent(Resource.POD_GROUP, Action.ADD)


class Undeclared(PreEnqueuePlugin):
    """Holds everybody back and says of no event that it does not matter."""

    name = "Undeclared"
    asked = 0

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        type(self).asked += 1
        return unresolvable("no")


def test_group_events_reach_plugins_that_declare_nothing_only_with_the_gate() -> None:
    for gates, counts in ((GENERIC, 1), ({}, 0)):
        driver = FakeCluster(node("a"), plugins=[Undeclared], gates=gates)
        driver.put(pending("p"))
        Undeclared.asked = 0
        driver.put(make_group())
        assert Undeclared.asked == counts


def test_new_members_wake_others_only_where_there_are_gangs() -> None:
    driver = GroupDriver(node("a", 9), make_group(min_count=2), gates=GANGS)
    driver.put(member("p"), pending("gated", schedulingGates=[{"name": "x"}]))
    driver.put(member("q"))
    assert driver.where() == {"p": "active", "q": "active", "gated": "gated"}
    assert driver.engine.state.pod_log.lines("default/p")[-1].detail == "UnschedulablePodAdd"


def test_a_member_that_goes_makes_the_gang_incomplete_for_newcomers() -> None:
    driver = GroupDriver(node("a", 9), make_group(min_count=2))
    driver.put(member("p"))
    driver.delete("p")
    driver.put(member("q"))
    assert driver.where() == {"q": "gated"}


def test_changes_of_a_pending_member_are_followed() -> None:
    driver = GroupDriver(node("a", 9), make_group(min_count=2))
    driver.put(member("p"))
    driver.change("p", phase="Pending")
    (known,) = driver.engine.cluster.pod_groups.get(("default", "g")).unscheduled_pods()
    assert known.pod is driver.pod("p")


def test_finished_members_leave_their_group() -> None:
    driver = GroupDriver(node("a", 9), make_group(min_count=1))
    driver.put(member("p", node="a"))
    assert driver.engine.cluster.pod_groups.find(("default", "g")) is not None
    driver.change("p", phase="Succeeded")
    assert driver.engine.cluster.pod_groups.find(("default", "g")) is None


def test_no_group_is_known_while_groups_are_off() -> None:
    driver = FakeCluster(node("a"), make_group(min_count=1))
    driver.put(member("p"), member("q", node="a"))
    driver.run()
    assert driver.engine.cluster.pod_groups.find(("default", "g")) is None
    assert driver.where() == {"p": "binding", "q": "a"}
