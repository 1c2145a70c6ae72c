"""A recorded cluster, decided anew: what others did happens at its time, and Podium decides."""

from pathlib import Path
from typing import Any

import pytest
from support.offline.traces.written_traces import (
    Raw,
    bound,
    gone,
    node,
    pod,
    put,
    snapshot,
    write_trace,
)

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.traces.decision_check import DecisionCheck, DecisionVerdict, check_decisions
from podium.offline.traces.recorded_cluster import read_recorded_cluster
from podium.offline.traces.replay import ReplayRules, replay
from podium.offline.traces.replay_report import ReplayOutcome, ReplayReport
from podium.offline.traces.trace_files import Delete, Gap, Patch, Put, TraceLine
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip


def rules(seed: int = 0) -> ReplayRules:
    configuration = load_configuration(None, gates=FeatureGates())
    equipped = equip(configuration, in_tree_registry(), ())
    return ReplayRules(equipped, FeatureGates(), seed, validate=not seed)


class Recording:
    """A trace to write, and what comes of it."""

    def __init__(self, directory: Path, *objects: Raw) -> None:
        self._path = directory / "t.podium"
        self._lines: list[TraceLine] = snapshot(*objects)

    def then(self, *lines: TraceLine) -> "Recording":
        self._lines += lines
        return self

    def replay(self, seed: int = 0, ends_at: float | None = 100.0, **part: Any) -> ReplayReport:
        return replay(read_recorded_cluster(self._write(ends_at), **part), rules(seed))

    def check(self) -> DecisionCheck:
        return check_decisions(read_recorded_cluster(self._write(100.0)), rules())

    def _write(self, ends_at: float | None) -> str:
        self._path.unlink(missing_ok=True)
        return write_trace(self._path, *self._lines, ends_at=ends_at)


def fates(report: ReplayReport) -> dict[str, tuple[str, str | None, str | None]]:
    return {each.key: (each.outcome.value, each.recorded_node, each.node) for each in report.pods}


@pytest.fixture
def two_nodes(tmp_path: Path) -> Recording:
    return Recording(tmp_path, node("n1"), node("n2"))


def test_pods_arrive_when_they_did_and_go_where_podium_wants(two_nodes: Recording) -> None:
    report = two_nodes.then(
        put(10.0, pod("a", cpu="3")),
        bound(12.0, "a", "n1"),
        put(20.0, pod("b", cpu="3")),
        bound(20.5, "b", "n2"),
        put(30.0, pod("giant", cpu="64")),
    ).replay()
    assert {each.key: each.arrived_s for each in report.pods} == {
        "default/a": 10.0,
        "default/b": 20.0,
        "default/giant": 30.0,
    }
    first, second, giant = report.pods
    assert {first.node, second.node} == {"n1", "n2"}
    assert giant.outcome is ReplayOutcome.PENDING
    assert "Insufficient cpu" in giant.reason
    assert (first.recorded_wait_s, second.recorded_wait_s) == (2.0, 0.5)
    assert first.wait_s is not None
    assert first.wait_s < 0.01
    assert (report.recorded.placed, report.here.placed) == (2, 2)
    assert report.agreement in (0.0, 1.0)


def test_a_pod_runs_here_as_long_as_it_did_there(tmp_path: Path) -> None:
    report = (
        Recording(tmp_path, node("n1"))
        .then(
            put(10.0, pod("job", cpu="4")),
            put(10.5, pod("next", cpu="4")),
            bound(20.0, "job", "n1"),
            gone(50.0, "job"),
            bound(51.0, "next", "n1"),
        )
        .replay()
    )
    job, following = report.pods
    assert job.wait_s == pytest.approx(0.0, abs=0.01)
    # Thirty seconds after its binding here, which is ten seconds earlier.
    assert following.wait_s == pytest.approx(40.0 - 10.5, abs=0.1)
    assert report.run.totals.finished == 1


def test_pods_that_were_there_stay_until_they_went(tmp_path: Path) -> None:
    there = pod("old", cpu="3", nodeName="n1")
    report = (
        Recording(tmp_path, node("n1"), there)
        .then(put(5.0, pod("new", cpu="3")), gone(40.0, "old"), bound(41.0, "new", "n1"))
        .replay()
    )
    (new,) = report.pods
    assert new.wait_s == pytest.approx(35.0, abs=0.1)


def test_a_pod_that_was_deleted_while_it_waited_is_deleted_here(tmp_path: Path) -> None:
    recording = Recording(tmp_path, node("n1", cpu="1"))
    report = recording.then(
        put(1.0, pod("a", cpu="8")), gone(50.0, "a"), put(60.0, pod("a", cpu="8", uid="again"))
    ).replay()
    assert [each.outcome for each in report.pods] == [ReplayOutcome.PENDING, ReplayOutcome.PENDING]
    assert (report.run.totals.removed, report.run.totals.pending) == (1, 1)


def test_nodes_come_change_and_go(tmp_path: Path) -> None:
    cordon = Patch(20.0, "nodes", "n1", {"spec": {"unschedulable": True}})
    report = (
        Recording(tmp_path, node("n1"))
        .then(
            cordon,
            put(30.0, pod("a")),
            put(40.0, node("n2")),
            bound(41.0, "a", "n2"),
            Delete(60.0, "nodes", "n2"),
            put(70.0, pod("b")),
        )
        .replay()
    )
    a, b = report.pods
    assert (a.node, a.outcome) == ("n2", ReplayOutcome.SAME)
    assert a.wait_s == pytest.approx(10.0, abs=1.5)
    assert b.outcome is ReplayOutcome.PENDING
    assert (report.run.totals.nodes_added, report.run.totals.nodes_removed) == (1, 1)


def test_a_gated_pod_arrives_when_its_gates_are_gone(two_nodes: Recording) -> None:
    report = two_nodes.then(
        put(1.0, pod("gated", schedulingGates=[{"name": "quota"}])),
        Patch(50.0, "pods", "gated", {"spec": {"schedulingGates": None}}, "default"),
        bound(52.0, "gated", "n1"),
    ).replay()
    (gated,) = report.pods
    assert (gated.arrived_s, gated.recorded_wait_s) == (50.0, 2.0)
    assert gated.node


def test_pods_with_a_node_from_the_start_and_of_other_schedulers_are_where_they_were(
    tmp_path: Path,
) -> None:
    report = (
        Recording(tmp_path, node("n1"), node("n2"))
        .then(
            put(1.0, pod("static", cpu="3", nodeName="n1")),
            put(2.0, pod("theirs", cpu="3", schedulerName="other")),
            bound(3.0, "theirs", "n2"),
            put(4.0, pod("never", schedulerName="other")),
            put(5.0, pod("ours", cpu="3")),
            gone(30.0, "static"),
            bound(31.0, "ours", "n1"),
        )
        .replay()
    )
    assert list(fates(report)) == ["default/ours"]
    assert report.pods[0].node == "n1"
    assert report.pods[0].wait_s == pytest.approx(25.0, abs=0.1)
    assert any("1 pods that waited for the scheduler other" in note for note in report.notes)


def test_what_the_recorded_scheduler_caused_is_decided_anew(tmp_path: Path) -> None:
    """The volume of a claim that waits for its pod is made where the pod goes here."""
    storage = "storageclasses.storage.k8s.io"
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "claim"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    on_n2 = [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1", "uid": "volume"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "claimRef": {"namespace": "default", "name": "data", "uid": "claim"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": on_n2}]}},
        },
    }
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    lines: list[TraceLine] = [
        Put(1.0, storage, fast),
        Put(2.0, "persistentvolumeclaims", claim),
        put(3.0, pod("user", volumes=volumes)),
        Put(3.2, "persistentvolumes", volume),
        Patch(3.2, "persistentvolumeclaims", "data", {"spec": {"volumeName": "pv-1"}}, "default"),
        bound(3.5, "user", "n2"),
        put(5.0, pod("filler", cpu="4", nodeName="n2")),
    ]
    full = put(0.5, pod("blocker", cpu="4", nodeName="n2"))
    report = Recording(tmp_path, node("n1"), node("n2")).then(full, *lines).replay()
    (user,) = report.pods
    assert (user.outcome, user.recorded_node, user.node) == (ReplayOutcome.MOVED, "n2", "n1")


def test_the_same_trace_configuration_and_seed_give_the_same_report(tmp_path: Path) -> None:
    recording = Recording(tmp_path, *(node(f"n{number}") for number in range(5)))
    for number in range(20):
        at = round(1.0 + number * 0.7, 3)
        recording.then(put(at, pod(f"p{number}")), bound(at + 0.1, f"p{number}", "n0"))
    first, second = recording.replay(seed=3), recording.replay(seed=3)
    assert first == second
    assert fates(first) != fates(recording.replay(seed=4))


def test_decisions_are_checked_one_by_one_on_the_cluster_as_it_was(two_nodes: Recording) -> None:
    check = two_nodes.then(
        put(1.0, pod("first", cpu="2")),
        bound(1.1, "first", "n2"),  # a tie
        put(2.0, pod("second", cpu="1")),
        bound(2.1, "second", "n2"),  # n1 is emptier
        put(3.0, pod("third", cpu="3")),
        bound(3.1, "third", "n2"),  # does not fit
        gone(4.0, "first"),
        put(5.0, pod("fourth", cpu="1")),
        bound(5.1, "fourth", "n9"),  # no such node
    ).check()
    assert [(each.key.rpartition("/")[2], each.verdict) for each in check.decisions] == [
        ("first", DecisionVerdict.SAME),
        ("second", DecisionVerdict.LOWER),
        ("third", DecisionVerdict.REFUSED),
        ("fourth", DecisionVerdict.REFUSED),
    ]
    _, second, third, fourth = check.decisions
    assert second.best == ("n1",)
    assert second.recorded_total is not None
    assert second.best_total is not None
    assert second.recorded_total < second.best_total
    assert "Insufficient cpu" in third.reason
    assert fourth.reason == "the recording has no such node"
    assert check.agreement == 0.25


def test_a_part_of_a_recording_can_be_replayed(two_nodes: Recording) -> None:
    two_nodes.then(
        put(10.0, pod("a")),
        bound(10.1, "a", "n1"),
        put(50.0, pod("b")),
        bound(50.1, "b", "n2"),
        put(80.0, pod("c")),
        bound(80.1, "c", "n1"),
    )
    report = two_nodes.replay(from_s=40.0, until_s=70.0)
    assert list(fates(report)) == ["default/b"]
    assert report.duration_s == 30.0
    assert report.pods[0].arrived_s == 10.0


def test_gaps_and_cuts_of_the_recording_are_in_the_notes(two_nodes: Recording) -> None:
    report = two_nodes.then(put(1.0, pod("a")), Gap(20.0, "pods")).replay(ends_at=None)
    assert any("could not follow all the time: pods" in note for note in report.notes)
    assert any("was cut off after 20 s" in note for note in report.notes)
    assert "not recorded, since forbidden: services" in report.notes
    assert report.duration_s == 20.0


def test_a_pod_that_nobody_saw_arrive_has_its_own_times(two_nodes: Recording) -> None:
    """The list after a gap has it on a node already."""
    late = pod("late", nodeName="n1")
    late["metadata"]["creationTimestamp"] = "2026-03-01T22:00:30Z"
    late["status"] = {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "lastTransitionTime": "2026-03-01T22:00:33Z",
            }
        ]
    }
    report = two_nodes.then(put(60.0, late)).replay()
    (life,) = report.pods
    assert (life.arrived_s, life.recorded_wait_s, life.recorded_node) == (30.0, 3.0, "n1")


def test_nodes_in_use_are_counted_over_time(tmp_path: Path) -> None:
    recording = Recording(tmp_path, node("n1"), node("n2"), pod("base", nodeName="n1"))
    report = recording.then(
        put(50.0, pod("a", nodeName="n2")),
    ).replay()
    assert (report.recorded_nodes.mean, report.recorded_nodes.most) == (1.5, 2)
    assert report.nodes == report.recorded_nodes
