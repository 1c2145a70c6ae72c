"""Events in: where pods are routed and who is woken."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.scheduler.framework.fake_plugins import permit

from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.workloads import Namespace
from podium.scheduler.cluster.growth import Rows, count_of
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, per_row
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.points import FilterPlugin, PermitResult
from podium.scheduler.framework.status import Code, Status, error, unschedulable
from podium.testing import FakeCluster, make_node, make_pod
from podium.testing import make_pod as pending

SMALL = {"cpu": "1", "memory": "1Gi", "pods": 10}
HALF = {"cpu": "600m"}
WAIT = permit("Hold", PermitResult(Status(Code.WAIT), 60.0))


def rejected(*names: str, **fields: Any) -> FakeCluster:
    """A full node, and pods that were tried and found no room."""
    driver = FakeCluster(make_node("n", allocatable=SMALL))
    driver.put(make_pod("tenant", node="n", requests=HALF, priority=10))
    driver.put(*(pending(name, requests=HALF, **fields) for name in names))
    driver.run()
    assert driver.where() == {"tenant": "n", **dict.fromkeys(names, "unschedulable")}
    return driver


# pods by route


def test_a_pod_on_a_node_goes_into_the_table() -> None:
    driver = FakeCluster(make_node("n"), make_pod("p", node="n", schedulerName="someone-else"))
    assert driver.where() == {"p": "n"}


def test_a_pending_pod_of_ours_is_queued_and_others_are_not() -> None:
    driver = FakeCluster(pending("ours"), pending("theirs", schedulerName="someone-else"))
    assert driver.where() == {"ours": "active"}
    driver.put(pending("theirs", schedulerName="someone-else", labels={"v": "2"}))
    driver.delete("theirs")
    assert driver.where() == {"ours": "active"}


def test_a_pod_may_come_before_its_node_and_stay_after_it() -> None:
    driver = FakeCluster(make_pod("p", node="n", requests={"cpu": "3"}))
    assert driver.engine.cluster.nodes.present_count == 0
    driver.put(make_node("n"), pending("q", requests={"cpu": "3"}))
    driver.run()
    assert driver.where() == {"p": "n", "q": "unschedulable"}
    driver.engine.intake.node_deleted("n")
    driver.engine.intake.node_deleted("n")
    assert driver.where()["p"] == "n"
    driver.delete("p")
    assert driver.engine.cluster.nodes.row("n") == -1


def test_a_finished_pod_is_gone() -> None:
    driver = rejected("p")
    driver.change("tenant", phase="Succeeded")
    assert driver.where() == {"p": "backoff"}
    driver.put(make_pod("done", node="n", status={"phase": "Failed"}))
    assert "done" not in driver.where()


def test_the_deletion_of_a_pod_that_had_finished_wakes_nobody_again() -> None:
    driver = rejected("p")
    tenant = driver.pod("tenant")
    driver.change("tenant", phase="Succeeded")
    driver.put(make_pod("tenant2", node="n", requests=HALF))
    driver.wait(3)
    assert driver.run() == ["p"]
    driver.engine.intake.pod_deleted(tenant)
    assert driver.where() == {"tenant2": "n", "p": "unschedulable"}


def test_a_pod_that_was_made_again_replaces_the_old_one() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    again = pending("p", metadata={"uid": "another"})
    driver.put(again)
    assert driver.where() == {"p": "active"}
    assert [queued.info.uid for queued in driver.engine.queue] == ["another"]
    driver.engine.intake.pod_deleted(pending("p"))
    assert driver.where() == {"p": "active"}


def test_a_running_pod_that_was_made_again_is_pending_once_more() -> None:
    driver = FakeCluster(make_node("n"), make_pod("p", node="n"))
    driver.put(pending("p", metadata={"uid": "another"}))
    assert driver.where() == {"p": "active"}
    assert int(driver.engine.cluster.usage.pod_count.sum()) == 0


def test_a_pod_that_somebody_else_bound_leaves_the_queue() -> None:
    driver = rejected("p", status={"nominatedNodeName": "n"})
    driver.confirm("p", "n")
    assert driver.where() == {"tenant": "n", "p": "n"}
    assert driver.nominated() == {}


def test_an_update_with_the_same_version_is_ignored() -> None:
    driver = FakeCluster(pending("p", metadata={"resourceVersion": "5"}))
    first = driver.pod("p")
    driver.put(pending("p", labels={"v": "2"}, metadata={"resourceVersion": "5"}))
    assert driver.pod("p") is first
    driver.put(pending("p", labels={"v": "2"}, metadata={"resourceVersion": "6"}))
    assert driver.pod("p").metadata.labels == {"v": "2"}


# who is woken


def test_room_that_a_pod_leaves_wakes_those_who_lacked_it() -> None:
    driver = rejected("p")
    driver.delete("tenant")
    assert driver.where() == {"p": "backoff"}
    assert driver.story("p")[-1] == "woken"


def test_a_pod_that_needs_less_wakes_those_who_lacked_room() -> None:
    driver = rejected("p")
    driver.put(make_pod("tenant", node="n", requests={"cpu": "100m"}, priority=10))
    assert driver.where()["p"] == "backoff"


def test_a_new_node_wakes_those_it_can_help() -> None:
    driver = rejected("p")
    driver.put(make_node("tiny", allocatable={"cpu": "100m", "pods": 1}))
    assert driver.where()["p"] == "unschedulable"
    driver.put(make_node("big"))
    assert driver.where()["p"] == "backoff"


def test_a_heartbeat_wakes_nobody_and_a_changed_taint_does() -> None:
    driver = rejected("p")
    driver.put(make_node("n", allocatable=SMALL, images={"app:v1": 5}))
    assert driver.where()["p"] == "unschedulable"
    driver.put(make_node("n", allocatable=SMALL, taints=[("k", "v", "NoSchedule")]))
    assert driver.where()["p"] == "backoff"


def test_the_change_of_a_node_is_in_the_table_before_anybody_is_woken() -> None:
    driver = rejected("p")
    driver.put(make_node("n", allocatable={**SMALL, "cpu": "4"}))
    assert driver.run() == ["p"]
    assert driver.where()["p"] == "binding"


def test_a_node_that_goes_wakes_people_while_it_is_still_there() -> None:
    seen: list[bool] = []

    class Homesick(FilterPlugin):
        """Rejects every node and looks for one of them whenever one goes."""

        name = "Homesick"

        def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
            count = count_of(rows)
            return per_row(dict.fromkeys(range(count), unschedulable("not home")), count)

        def events(self) -> Sequence[Registration]:
            return (Registration(Resource.NODE, Action.DELETE, self._look),)

        def _look(self, *_: object) -> bool:
            seen.append(self.handle.cluster.nodes.is_present("n"))
            return True

    driver = FakeCluster(make_node("n"), pending("p"), plugins=[Homesick])
    driver.run()
    driver.engine.intake.node_deleted("n")
    assert seen == [True]
    assert driver.where() == {"p": "backoff"}
    assert not driver.engine.cluster.nodes.is_present("n")


def test_a_pod_that_gets_a_toleration_is_woken_itself() -> None:
    driver = FakeCluster(make_node("n", taints=[("k", "v", "NoSchedule")]), pending("p"))
    driver.run()
    driver.put(pending("p", tolerations=[{"key": "k", "operator": "Exists"}]))
    driver.wait(2)
    driver.run()
    assert driver.where() == {"p": "binding"}


def test_a_pod_is_queued_when_its_last_gate_goes() -> None:
    driver = FakeCluster(make_node("n"), pending("p", schedulingGates=[{"name": "g"}]))
    assert driver.where() == {"p": "gated"}
    assert driver.story("p") == ["held back"]
    assert driver.run() == []
    assert driver.events == []
    driver.put(pending("p"))
    assert driver.run() == ["p"]


def test_other_objects_wake_those_whose_plugins_asked() -> None:
    driver = FakeCluster(make_node("n"))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    driver.put(pending("p", volumes=volumes))
    driver.run()
    assert driver.where() == {"p": "unschedulable"}
    claim = {
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"volumeName": "", "storageClassName": ""},
    }
    driver.put(msgspec.convert({"metadata": {"name": "default"}}, Namespace))
    assert driver.where() == {"p": "unschedulable"}
    driver.put(msgspec.convert(claim, PersistentVolumeClaim))
    assert driver.where() == {"p": "backoff"}
    driver.engine.intake.object_deleted(msgspec.convert(claim, PersistentVolumeClaim))


# nominated pods


def nominee(node: str, **fields: Any) -> FakeCluster:
    """A strong pod nominated to the node, and weak and strong ones that lack room."""
    driver = FakeCluster(make_node("n", allocatable=SMALL))
    driver.put(make_pod("tenant", node="n", requests=HALF, priority=100))
    driver.put(pending("nominee", requests=HALF, priority=5, status={"nominatedNodeName": node}))
    driver.put(pending("weak", requests=HALF), pending("strong", requests=HALF, priority=50))
    driver.run()
    return driver


@pytest.mark.parametrize("gone", ["changed", "cleared", "deleted"])
def test_a_nomination_that_ends_wakes_pods_of_no_more_priority(gone: str) -> None:
    driver = nominee("n")
    driver.change("nominee", nominated_node_name="n")
    if gone == "deleted":
        driver.delete("nominee")
    else:
        driver.change("nominee", nominated_node_name="" if gone == "cleared" else "m")
    assert (driver.where()["weak"], driver.where()["strong"]) == ("backoff", "unschedulable")


def test_a_nomination_that_begins_wakes_nobody() -> None:
    driver = nominee("")
    driver.change("nominee", nominated_node_name="n")
    assert driver.nominated() == {"nominee": "n"}
    assert driver.where()["weak"] == "unschedulable"


# pods that hold a node


def test_an_assumed_pod_ignores_updates() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    driver.run()
    driver.put(pending("p", labels={"v": "2"}))
    assert driver.where() == {"p": "binding"}


def test_the_confirmation_of_an_assumed_pod_changes_no_sum() -> None:
    driver = FakeCluster(make_node("n"), pending("p", requests={"cpu": "1"}))
    driver.run()
    driver.bound("p")
    assert driver.where() == {"p": "n"}
    assert int(driver.engine.cluster.usage.pod_count.sum()) == 1


def test_a_pod_confirmed_elsewhere_moves() -> None:
    driver = FakeCluster(make_node("a"), make_node("b"), pending("p"))
    driver.run()
    driver.confirm("p", "b")
    driver.finish("p")
    assert driver.where() == {"p": "b"}


@pytest.mark.parametrize("how", ["deletion starts", "deleted"])
def test_an_assumed_pod_that_goes_frees_its_node_at_once(how: str) -> None:
    driver = FakeCluster(make_node("n", allocatable=SMALL), pending("p", requests=HALF))
    driver.run()
    driver.put(pending("q", requests=HALF))
    driver.run()
    assert driver.where() == {"p": "binding", "q": "unschedulable"}
    if how == "deleted":
        driver.delete("p")
    else:
        driver.terminate("p")
    assert driver.where() == {"q": "backoff"}
    driver.finish("p", error("pod not found"))
    assert driver.engine.state.flights == {}


@pytest.mark.parametrize("how", ["deletion starts", "deleted"])
def test_a_waiting_pod_that_goes_is_rejected_and_cleaned_up(how: str) -> None:
    driver = FakeCluster(
        make_node("n", allocatable=SMALL), pending("p", requests=HALF), plugins=[WAIT]
    )
    driver.run()
    assert driver.where() == {"p": "permit"}
    if how == "deleted":
        driver.delete("p")
    else:
        driver.terminate("p")
    driver.run()
    assert driver.where() == ({} if how == "deleted" else {"p": "unschedulable"})
    assert driver.notes() == ["0/1 nodes are available: 1 removed."]
    assert len(driver.engine.state.waiting) == 0


def test_a_pod_going_while_it_is_bound_is_dropped_when_an_update_brings_it_back() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    driver.run()
    driver.terminate("p")
    driver.change("p", nominated_node_name="n")
    assert driver.where() == {"p": "active"}
    assert list(driver.engine.state.flights) == ["uid-default-p"]
    assert driver.run() == []
    assert driver.notes() == ["skip schedule deleting pod: default/p"]
    driver.finish("p", error("pod is being deleted"))
    assert driver.engine.state.flights == {}


def test_a_terminating_pod_is_taken_out_with_a_word_to_its_owner() -> None:
    driver = FakeCluster(make_node("n"), pending("p", status={"nominatedNodeName": "n"}))
    driver.terminate("p")
    assert driver.run() == []
    assert driver.where() == {}
    assert driver.notes() == ["skip schedule deleting pod: default/p"]
    assert driver.nominated() == {"p": "n"}
    (bare, _), *_ = driver.engine.cluster.nominator
    assert (bare.priority, bare.shape.requests) == (0, {})
    driver.delete("p")
    assert driver.nominated() == {}


def test_a_pod_that_nobody_serves_any_more_is_dropped_without_a_word() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), validate=False)
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    other = replace(queued.info.pod, spec=replace(queued.info.pod.spec, scheduler_name="x"))
    queued.info = driver.engine.cluster.infos.of(other)
    assert driver.attempt() is None
    assert driver.engine.queue.pods_in_flight() == []
    assert driver.events == []
