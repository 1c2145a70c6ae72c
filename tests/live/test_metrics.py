"""What is counted on a pod's way."""

from pathlib import Path
from typing import Any

import pytest
from support.live.watched_metrics import Watched
from support.scheduler.engine.group_driver import GANGS, make_group, member, node
from support.scheduler.framework.fake_plugins import filter_by, permit, pre_filter

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.live import metric_definitions as known
from podium.scheduler.framework.points import PermitResult, Plugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable
from podium.testing import make_node, make_pod
from podium.testing import make_pod as pending
from podium.testing.fake_cluster import DEFAULT_SCHEDULER as OURS


def full(name: str = "small") -> Any:
    return make_node(name, allocatable={"cpu": "1", "memory": "1Gi", "pods": 10})


# --- attempts ---------------------------------------------------------------------------------


def test_a_pod_that_is_bound_is_counted_once() -> None:
    driver = Watched(make_node("a"), pending("p"))
    driver.run()
    assert driver.samples("scheduler_schedule_attempts_total") == {}
    driver.clock.advance(0.25)
    driver.bound("p")
    assert driver.samples("scheduler_schedule_attempts_total") == {(OURS, "scheduled"): 1}
    duration = "scheduler_scheduling_attempt_duration_seconds"
    assert driver.samples(f"{duration}_sum") == {(OURS, "scheduled"): 0.25}
    assert driver.samples("scheduler_pod_scheduling_attempts_sum") == {(): 1}
    assert driver.samples("scheduler_pod_scheduling_sli_duration_seconds_sum") == {("1",): 0.25}


def test_a_pod_that_fits_nowhere_is_unschedulable() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}))
    driver.run()
    assert driver.samples("scheduler_schedule_attempts_total") == {(OURS, "unschedulable"): 1}
    assert driver.samples("scheduler_unschedulable_pods") == {("NodeResourcesFit", OURS): 1}


def test_an_attempt_that_breaks_is_an_error() -> None:
    broken = filter_by("Broken", {"a": error("no idea")})
    driver = Watched(make_node("a"), pending("p"), plugins=[broken])
    driver.attempt()
    assert driver.samples("scheduler_schedule_attempts_total") == {(OURS, "error"): 1}


def test_a_binding_that_fails_is_counted_with_its_attempt() -> None:
    driver = Watched(make_node("a"), pending("p"))
    driver.run()
    driver.clock.advance(2)
    driver.finish("p", error("the server is gone"))
    assert driver.samples("scheduler_schedule_attempts_total") == {(OURS, "error"): 1}
    duration = "scheduler_scheduling_attempt_duration_seconds_sum"
    assert driver.samples(duration) == {(OURS, "error"): 2}


def test_many_attempts_share_a_label() -> None:
    driver = Watched(make_node("a"), pending("p"), podInitialBackoffSeconds=1)
    for _ in range(16):
        driver.run()
        driver.finish("p", error("again"))
        driver.wait(20)
    driver.run()
    driver.bound("p")
    assert driver.samples("scheduler_pod_scheduling_attempts_sum") == {(): 17}
    assert set(driver.samples("scheduler_pod_scheduling_sli_duration_seconds_sum")) == {("15+",)}


def test_a_pod_that_a_long_wait_brought_back_is_counted() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}), validate=False)
    driver.run()
    driver.engine.cluster.put_node(make_node("large"))  # nobody hears of it
    driver.wait(331)
    driver.run()
    driver.bound("p")
    assert driver.samples("scheduler_pod_scheduled_after_flush_total") == {(): 1}


def test_extension_points_are_timed_with_their_outcome() -> None:
    driver = Watched(
        make_node("a"), make_node("b"), pending("fits"), pending("big", requests={"cpu": "64"})
    )
    driver.run()
    counts = driver.samples("scheduler_framework_extension_point_duration_seconds_count")
    assert counts == {
        ("Filter", OURS, "Success"): 2,
        ("PostFilter", OURS, "Unschedulable"): 1,
        ("PreFilter", OURS, "Success"): 2,
        ("Score", OURS, "Success"): 1,
    }
    assert driver.samples("scheduler_scheduling_algorithm_duration_seconds_count") == {(): 2}


@pytest.mark.parametrize(
    ("plugin", "outcomes"),
    [
        (filter_by("Odd", {"a": error("no")}), {"PreFilter": "Success", "Filter": "Error"}),
        (pre_filter("Odd", error("no")), {"PreFilter": "Error"}),
        (
            pre_filter("Odd", unresolvable("no")),
            {"PreFilter": "UnschedulableAndUnresolvable", "PostFilter": "Unschedulable"},
        ),
    ],
    ids=["filter breaks", "pre-filter breaks", "pre-filter rejects"],
)
def test_a_point_that_ends_an_attempt_says_how(
    plugin: type[Plugin], outcomes: dict[str, str]
) -> None:
    driver = Watched(make_node("a"), pending("p"), plugins=[plugin])
    driver.attempt()
    counts = driver.samples("scheduler_framework_extension_point_duration_seconds_count")
    assert counts == {(point, OURS, status): 1 for point, status in outcomes.items()}
    asked = driver.samples("scheduler_plugin_evaluation_total")
    assert (("Filter", "NodeName", OURS) in asked) is ("Filter" in outcomes)


def test_plugins_are_counted_unless_they_stand_aside() -> None:
    driver = Watched(make_node("a"), make_node("b"), pending("p"))
    driver.run()
    counts = driver.samples("scheduler_plugin_evaluation_total")
    assert counts["PreFilter", "NodeResourcesFit", OURS] == 1
    assert counts["Filter", "TaintToleration", OURS] == 1
    assert counts["Score", "NodeResourcesFit", OURS] == 1
    assert ("PreFilter", "NodePorts", OURS) not in counts
    assert ("Filter", "NodePorts", OURS) not in counts


def test_waits_for_permission_are_timed() -> None:
    waits = permit("Waits", PermitResult(Status(Code.WAIT), 10.0))
    driver = Watched(make_node("a"), pending("p"), plugins=[waits])
    driver.run()
    driver.wait(10)
    assert driver.samples("scheduler_permit_wait_duration_seconds_sum") == {("Unschedulable",): 10}


# --- the queue --------------------------------------------------------------------------------


def test_ways_into_the_queue_are_counted_by_their_cause() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}))
    driver.run()
    assert driver.samples("scheduler_queue_incoming_pods_total") == {
        ("UnschedulablePodAdd", "active"): 1,
        ("ScheduleAttemptFailure", "unschedulable"): 1,
    }
    driver.put(make_node("large"))
    assert driver.samples("scheduler_queue_incoming_pods_total")["NodeAdd", "backoff"] == 1
    driver.wait(5)
    assert driver.samples("scheduler_queue_incoming_pods_total")["BackoffComplete", "active"] == 1


def test_a_pod_may_come_from_backoff_before_its_time() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}))
    driver.run()
    driver.put(make_node("large"))
    driver.run()
    assert driver.samples("scheduler_queue_incoming_pods_total")["PopFromBackoffQ", "active"] == 1


def test_gated_pods_count_as_unschedulable_on_their_way_in() -> None:
    driver = Watched(pending("p", schedulingGates=[{"name": "later"}]))
    assert driver.samples("scheduler_queue_incoming_pods_total") == {
        ("UnschedulablePodAdd", "unschedulable"): 1
    }
    assert driver.samples("scheduler_pending_pods") == {
        ("active",): 0,
        ("backoff",): 0,
        ("unschedulable",): 0,
        ("gated",): 1,
    }
    assert driver.samples("scheduler_unschedulable_pods") == {("SchedulingGates", OURS): 1}


def test_pending_pods_are_counted_when_somebody_asks() -> None:
    driver = Watched(full(), *(pending(f"p{i}", requests={"cpu": "2"}) for i in range(3)))
    assert driver.samples("scheduler_pending_pods")["active",] == 3
    driver.attempt()
    pods = driver.samples("scheduler_pending_pods")
    assert (pods["active",], pods["unschedulable",]) == (2, 1)


def test_events_during_attempts_are_counted() -> None:
    driver = Watched(full(), pending("p"), validate=False)
    driver.engine.queue.pop()
    driver.put(make_node("b"))
    assert driver.samples("scheduler_inflight_events") == {("PodPopped",): 1, ("NodeAdd",): 1}


def test_without_queueing_hints_nobody_counts_what_happens_in_flight() -> None:
    off = FeatureGates({"SchedulerQueueingHints": False}, emulated=Version(1, 33))
    assert "scheduler_inflight_events" not in Watched(gates=off).text()
    assert "scheduler_inflight_events" in Watched().text()


def test_the_cache_is_measured() -> None:
    driver = Watched(make_node("a"), make_node("b"), make_pod("old", node="a"), pending("p"))
    driver.run()
    assert driver.samples("scheduler_cache_size") == {
        ("nodes",): 2,
        ("pods",): 2,
        ("assumed_pods",): 1,
    }
    assert driver.samples("scheduler_goroutines") == {("binding",): 1}


# --- preemption -------------------------------------------------------------------------------


def test_preemptions_are_counted_with_their_victims() -> None:
    weak = [make_pod(f"weak{i}", node="small", requests={"cpu": "500m"}) for i in range(2)]
    driver = Watched(full(), *weak, pending("strong", requests={"cpu": "1"}, priority=10))
    driver.run()
    assert driver.samples("scheduler_preemption_attempts_total") == {(): 1}
    assert driver.samples("scheduler_preemption_victims_sum") == {(): 2}


def test_a_preemption_that_finds_nobody_is_an_attempt_without_victims() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}))
    driver.run()
    assert driver.samples("scheduler_preemption_attempts_total") == {(): 1}
    assert driver.samples("scheduler_preemption_victims_count") == {(): 0}


def test_without_the_plugin_nothing_is_a_preemption() -> None:
    driver = Watched(full(), pending("p", requests={"cpu": "2"}), disabled=["DefaultPreemption"])
    driver.run()
    assert driver.samples("scheduler_preemption_attempts_total") == {(): 0}


# --- the component -----------------------------------------------------------------------------


def test_release_and_gates_are_shown() -> None:
    driver = Watched(gates={"GenericWorkload": True})
    gates = driver.samples("kubernetes_feature_enabled")
    assert gates["GenericWorkload", "ALPHA"] == 1
    assert gates["SchedulerQueueingHints", ""] == 1
    assert "kubernetes_build_info" in driver.text()
    assert 'git_version="v1.36.4"' in driver.text()


def test_the_process_is_shown() -> None:
    assert "process_cpu_seconds_total" in Watched().text()


def test_pod_groups_are_counted_as_such() -> None:
    driver = Watched(node("a", 2), make_group(min_count=2), gates=GANGS)
    driver.put(member("one"), member("two"))
    driver.run()
    driver.put(make_group("large", min_count=2), member("x", "large", cpu=2))
    driver.put(member("y", "large", cpu=2))
    driver.run()
    attempts = driver.samples("scheduler_podgroup_schedule_attempts_total")
    assert attempts[OURS, "scheduled"] == 1
    assert attempts[OURS, "unschedulable"] >= 1
    count = "scheduler_podgroup_scheduling_algorithm_duration_seconds_count"
    assert driver.samples(count)[()] == sum(attempts.values())


def test_every_metric_is_on_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    definitions = [each for each in vars(known).values() if isinstance(each, known.Definition)]
    lines = {line.split("|")[1].strip(): line for line in page.splitlines() if line.count("|") > 3}
    for definition in definitions:
        line = lines[f"`{definition.name}`"]
        shown = line.split("|")[2].strip()
        if definition.labels and shown and shown != "the same":
            assert shown == ", ".join(definition.labels)
