"""The log of scheduling: kube-scheduler's lines, at its levels, and nothing below them."""

import json
import re
from random import Random
from typing import Any

import numpy as np
import pytest
from support.scheduler.engine.group_driver import GANGS, make_group, member
from support.scheduler.framework.fake_plugins import filter_by, permit, pre_filter

from podium.commands.processes.kube_log import KubeLog, log_at
from podium.live.scheduling_log import SchedulingLog
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.points import PermitResult, ReservePlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from podium.testing import FakeCluster, make_node, make_pod

_HEADER = re.compile(r"^([IE])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.py:\d+\] ")


class Logged(FakeCluster):
    """A cluster whose scheduler writes a log, as the live one does."""

    def __init__(
        self, capsys: pytest.CaptureFixture[str], verbosity: int, *objects: Any, **configured: Any
    ) -> None:
        super().__init__(**configured)
        self._capsys = capsys
        self.log = log_at(verbosity)
        self.log.on_verbosity(SchedulingLog(self.engine, self.log, Random(1)).set_verbosity)
        self.put(*objects)

    def said(self) -> list[str]:
        """Lines since the last call, without what is in front of their messages."""
        return [_HEADER.sub("", line) for line in self._capsys.readouterr().err.splitlines()]

    def bind(self, name: str) -> None:
        self.finish(name, self.run_binding(name))


def small(name: str = "a") -> Any:
    return make_node(name, allocatable={"cpu": "1", "memory": "1Gi", "pods": 10})


# --- a pod that fits --------------------------------------------------------------------------


def test_the_way_of_a_pod_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 5, make_node("a"), make_node("b"), small("c"))
    cluster.said()
    cluster.put(make_pod("test", requests={"cpu": "2"}))
    cluster.run()
    cluster.bind("test")
    cluster.confirm("test", "a")
    assert cluster.said() == [
        '"Add event for unscheduled pod" pod="default/test"',
        '"Pod moved to an internal scheduling queue" pod="default/test"'
        ' event="UnschedulablePodAdd" queue="Active"',
        '"About to try and schedule pod" pod="default/test"',
        '"Attempting to schedule pod" pod="default/test"',
        '"Attempting to bind pod to node" logger="Bind.DefaultBinder" pod="default/test" node="a"',
        '"Finished binding for pod, can be expired" pod="default/test"',
        '"Successfully bound pod to node" pod="default/test" node="a" evaluatedNodes=3'
        " feasibleNodes=2",
        '"Add event for scheduled pod" pod="default/test"',
        '"Delete event for unscheduled pod" pod="default/test"',
    ]


def test_scores_are_told_at_ten(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 10, make_node("a"), small("b"))
    cluster.said()
    cluster.schedule(make_pod("test", requests={"cpu": "500m"}))
    said = cluster.said()
    fit = 'plugin="NodeResourcesFit" node="{}" score={}'
    scored = '"Plugin scored node for pod" pod="default/test" '
    scores = dict(re.findall(r'plugin="NodeResourcesFit" node="(\w)" score=(\d+)', "\n".join(said)))
    assert set(scores) == {"a", "b"}
    assert scored + fit.format("b", scores["b"]) in said
    total = [line for line in said if line.startswith('"Calculated node\'s final score for pod"')]
    assert len(total) == 2
    quiet = Logged(capsys, 9, make_node("a"), small("b"))
    quiet.schedule(make_pod("test", requests={"cpu": "500m"}))
    assert "scored" not in "\n".join(quiet.said())


# --- pods that do not -------------------------------------------------------------------------


def test_a_pod_that_fits_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 3, small())
    cluster.said()
    cluster.put(make_pod("test", requests={"cpu": "2"}))
    cluster.run()
    message = cluster.patches[-1].message
    assert cluster.said() == [
        '"Add event for unscheduled pod" pod="default/test"',
        '"Attempting to schedule pod" pod="default/test"',
        '"Preemption will not help schedule pod on any node" pod="default/test"',
        '"No preemption candidate is found; preemption is not helpful for scheduling"'
        ' pod="default/test"',
        f'"Unable to schedule pod; no fit; waiting" pod="default/test" err="{message}"',
        '"Pod moved to an internal scheduling queue" pod="default/test"'
        ' event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=1 hint=0'
        ' unschedulable plugins={"NodeResourcesFit":{}}',
        '"Updating pod condition and nominated node name" pod="default/test"'
        ' conditionType="PodScheduled" conditionStatus="False" conditionReason="Unschedulable"'
        ' nominatedNodeName="" nominatingMode=1',
    ]


def test_a_cluster_without_nodes_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 2, make_pod("test"))
    cluster.run()
    text = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
    assert cluster.said() == [f'"{text}" pod="default/test"']


def test_errors_are_told_at_every_verbosity(capsys: pytest.CaptureFixture[str]) -> None:
    broken = filter_by("Broken", {"a": error("no idea")})
    cluster = Logged(capsys, 0, make_node("a"), make_pod("test"), plugins=[broken])
    cluster.attempt()
    err = 'err="running \\"Broken\\" filter plugin: no idea"'
    assert cluster.said() == [
        f'"Error selecting node for pod" {err} pod="default/test"',
        f'"Error scheduling pod; retrying" {err} logger="UnhandledError" pod="default/test"',
    ]


def test_a_binding_that_fails_is_told_from_one_on(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 1, make_node("a"), make_pod("test"))
    cluster.run()
    cluster.run_binding("test")
    text = 'running Bind plugin "DefaultBinder": the server is gone'
    cluster.finish("test", error(text).by("DefaultBinder"))
    escaped = text.replace('"', '\\"')
    assert cluster.said() == [
        '"Plugin Failed" err="the server is gone" plugin="DefaultBinder" pod="default/test"'
        ' node="a"',
        '"Failed to bind pod" pod="default/test"',
        f'"Error scheduling pod; retrying" err="{escaped}" logger="UnhandledError"'
        ' pod="default/test"',
    ]


def test_a_pod_that_is_gone_when_its_binding_fails(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 0, make_node("a"), make_pod("test"))
    cluster.run()
    cluster.delete("test")
    cluster.finish("test", error("no answer"))
    assert cluster.said()[-1] == (
        '"Pod doesn\'t exist in informer cache" pod="default/test" err="pod \\"test\\" not found"'
    )


def test_what_plugins_say_before_a_node_is_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    never = pre_filter("Never", unresolvable("not today"))
    cluster = Logged(capsys, 5, make_node("a"), make_pod("test"), plugins=[never])
    cluster.run()
    text = '"Status after running PreFilter plugins for pod" pod="default/test" status="not today"'
    assert text in cluster.said()


def test_gated_pods_are_told_from_four_on(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 5)
    cluster.put(make_pod("test", schedulingGates=[{"name": "later"}]))
    assert cluster.said() == [
        '"Add event for unscheduled pod" pod="default/test"',
        '"Status after running PreEnqueue plugin" pod="default/test" plugin="SchedulingGates"'
        ' status="waiting for scheduling gates: [later]"',
        '"Pod moved to an internal scheduling queue, because the pod is gated"'
        ' pod="default/test" event="UnschedulablePodAdd" queue="Unschedulable"',
    ]


class Refuses(ReservePlugin):
    name = "Refuses"

    def reserve(self, cycle: Any, node_name: str) -> Status | None:
        return unschedulable("taken") if node_name == "a" else None

    def unreserve(self, cycle: Any, node_name: str) -> None: ...


def test_rejections_and_waits_after_a_node_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    waits = permit("Waits", PermitResult(Status(Code.WAIT), 10.0))
    cluster = Logged(capsys, 4, make_node("b"), make_pod("test"), plugins=[Refuses, waits])
    cluster.run()
    cluster.wait(12)
    said = cluster.said()
    assert '"Pod waiting on permit" pod="default/test"' in said
    why = "rejected due to timeout after waiting 10s at plugin Waits"
    assert f'"Pod rejected while waiting on permit" pod="default/test" status="{why}"' in said
    asked = "One or more plugins asked to wait and no plugin rejected pod"
    assert f'"{asked}" pod="default/test"' in said
    other = Logged(capsys, 4, make_node("a"), make_pod("test"), plugins=[Refuses])
    other.run()
    rejected = '"Pod rejected by plugin" pod="default/test" plugin="Refuses" status="taken"'
    assert rejected in other.said()


# --- preemption and groups --------------------------------------------------------------------


def test_a_preemption_from_its_node_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    weak = make_pod("weak", node="a", requests={"cpu": "1"})
    cluster = Logged(capsys, 2, small(), weak)
    cluster.said()
    cluster.put(make_pod("strong", requests={"cpu": "1"}, priority=10))
    cluster.run()
    (preempt,) = cluster.preemptions
    victim = preempt.evict[0].victim
    cluster.engine.preemptions.confirm_eviction(preempt.preemptor, victim, "a")
    cluster.engine.preemptions.finish_preemption(preempt.preemptor, None)
    said = [line for line in cluster.said() if "no fit" not in line]
    whom = 'preemptor="default/strong" victim="default/weak" node="a"'
    assert said == [
        '"the target node for the preemption is determined" pod="default/strong" node="a"',
        '"Start the preemption asynchronously" preemptor="default/strong" node="a" numVictims=1'
        " numVictimsToDelete=1",
        f'"Preemptor Pod preempted victim Pod" {whom}',
        '"Async Preemption finished completely" preemptor="default/strong" node="a"'
        ' result="success"',
    ]


def test_a_pod_that_may_not_preempt(capsys: pytest.CaptureFixture[str]) -> None:
    pod = make_pod("test", requests={"cpu": "2"}, preemptionPolicy="Never")
    cluster = Logged(capsys, 5, small(), pod)
    cluster.run()
    reason = "not eligible due to preemptionPolicy=Never."
    told = f'logger="PostFilter.DefaultPreemption" pod="default/test" reason="{reason}"'
    assert f'"Pod is not eligible for preemption" {told}' in cluster.said()


def test_a_group_is_told_of_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 4, make_node("a"), make_group(min_count=2), gates=GANGS)
    cluster.put(member("m0"), member("m1"))
    cluster.said()
    cluster.run()
    said = cluster.said()
    assert '"Attempting to schedule pod group" podGroup="default/g"' in said
    each = "Attempting to schedule a pod belonging to a pod group"
    assert f'"{each}" podGroup="default/g" pod="default/m0"' in said
    ended = "Successfully scheduled a pod group"
    assert f'"{ended}" podGroup="default/g" scheduledPods=2 unschedulablePods=0' in said
    assert not any(line.startswith('"About to try and schedule pod"') for line in said)


# --- nodes and slow cycles --------------------------------------------------------------------


def test_nodes_that_come_move_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 4)
    zone = {"topology.kubernetes.io/zone": "z1"}
    cluster.put(make_node("a"))
    cluster.put(make_node("a", labels=zone))
    cluster.engine.intake.node_deleted("a")
    assert cluster.said() == [
        '"Add event for node" node="a"',
        '"Added node to NodeTree" node="a" zone=""',
        '"Update event for node" node="a"',
        '"Removed node from NodeTree" node="a" zone=""',
        '"Added node to NodeTree" node="a" zone=":\\x00:z1"',
        '"Delete event for node" node="a"',
        '"Removed node from NodeTree" node="a" zone=":\\x00:z1"',
    ]


def slow_decision(cluster: Logged, **durations_s: float) -> Decision:
    info = cluster.engine.cluster.infos.of(cluster.pod("test"))
    cluster.clock.now = 1_794_806_392.449
    decision = Decision(info, "default-scheduler", ("a", "b"), durations_s=durations_s)
    decision.chosen = "a"
    return decision


def test_a_slow_cycle_is_told_with_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 2, make_pod("test"))
    slow = slow_decision(cluster, total=0.16, pre_filter=0.001, filter=0.119, post_filter=0.01)
    cluster.engine.observers.search_ended(slow)
    first, step, last = cluster.said()
    number = first.partition(":")[0]
    assert re.fullmatch(r"Trace\[\d+\]", number)
    told = r'"Scheduling" namespace:default,name:test \(16-Nov-2026 \d\d:\d\d:52.289\)'
    assert re.fullmatch(rf"{re.escape(number)}: {told} \(total time: 150ms\):", first)
    assert step.startswith(f'{number}: ---"Computing predicates done" 120ms (')
    assert last == f"{number}: [150ms] [150ms] END"


@pytest.mark.parametrize(("verbosity", "told"), [(2, 1), (4, 2)])
def test_quick_steps_of_a_slow_cycle_are_told_from_four_on(
    capsys: pytest.CaptureFixture[str], verbosity: int, told: int
) -> None:
    cluster = Logged(capsys, verbosity, make_pod("test"))
    cluster.said()
    slow = slow_decision(cluster, total=0.15, pre_filter=0.1, filter=0.04, score=0.01)
    slow.feasible = np.arange(2)
    cluster.engine.observers.search_ended(slow)
    assert sum("---" in line for line in cluster.said()) == told


def test_a_cycle_that_is_not_slow_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 2, make_pod("test"))
    cluster.engine.observers.search_ended(slow_decision(cluster, total=0.099, filter=0.099))
    assert cluster.said() == []


# --- form and verbosity -----------------------------------------------------------------------


def test_lines_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    log = KubeLog(options_of(parse_flags(["-v=2", "--logging-format=json"])).logs)
    other = FakeCluster(make_node("a"))
    log.on_verbosity(SchedulingLog(other.engine, log, Random(1)).set_verbosity)
    other.schedule(make_pod("test"))
    other.put(make_pod("next"))
    other.run()
    other.finish("next", error("it broke"))
    bound, failed = map(json.loads, capsys.readouterr().err.splitlines())
    assert bound.pop("ts")
    assert re.fullmatch(r"\w+\.py:\d+", bound.pop("caller"))
    assert list(bound.items()) == [
        ("msg", "Successfully bound pod to node"),
        ("v", 2),
        ("pod", {"name": "test", "namespace": "default"}),
        ("node", "a"),
        ("evaluatedNodes", 1),
        ("feasibleNodes", 1),
    ]
    assert list(failed) == ["ts", "logger", "caller", "msg", "pod", "err"]
    assert failed["logger"] == "UnhandledError"


def test_verbosity_follows_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Logged(capsys, 0, make_node("a"))
    cluster.schedule(make_pod("one"))
    assert cluster.said() == []
    cluster.log.set_verbosity(2)
    cluster.schedule(make_pod("two"))
    assert [line.partition(" pod=")[0] for line in cluster.said()] == [
        '"Successfully bound pod to node"'
    ]
    cluster.log.set_verbosity(0)
    cluster.schedule(make_pod("three"))
    assert cluster.said() == []


def test_a_quiet_log_does_not_observe_what_goes_well(capsys: pytest.CaptureFixture[str]) -> None:
    heard = Logged(capsys, 0).engine.observers.heard
    assert heard == {
        "pod_failed",
        "binding_ended",
        "wait_ended",
        "pod_gated",
        "preemption_ended",
    }
    assert "search_ended" in Logged(capsys, 2).engine.observers.heard
    assert "entered_queue" not in Logged(capsys, 2).engine.observers.heard
