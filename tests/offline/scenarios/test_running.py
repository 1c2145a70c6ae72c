"""Runs of scenarios: the same bytes again, room that comes free, failures, scaling, metrics."""

import dataclasses
from typing import Any

import msgspec
import pytest
from support.offline.scenarios.files import CONFIGURATION, WEB, WORKERS, read, run

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioRun, find_scenario, list_ready_scenarios, run_scenario
from podium.offline.simulate import Scenario
from podium.offline.simulate.timed_report import TimedPod, TimedPodState
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node

HOUR = 3600.0


def tenant(**fields: Any) -> dict[str, Any]:
    return {**WEB, **fields}


def one_pod(cpu: int, **fields: Any) -> dict[str, Any]:
    """A tenant that brings one pod, in the beginning."""
    return tenant(
        arrivals={"burst": {"count": 1}},
        **{"runTime": {"constant": "1h"}, "workloads": [{"name": "pod", "requests": {"cpu": cpu}}]}
        | fields,
    )


def encoded(ran: ScenarioRun) -> bytes:
    found = dataclasses.asdict(ran.report)
    found.pop("nodes")
    return msgspec.json.encode((ran.metrics, found), order="sorted")


def test_the_same_scenario_and_seed_give_the_same_bytes() -> None:
    pools = [{**WORKERS, "zones": ["a", "b"]}]
    failures = [{"name": "wear", "mtbf": "2h", "repair": {"exponential": {"mean": "1h"}}}]
    spec: dict[str, Any] = {
        "cluster": {"pools": pools},
        "nodeFailures": failures,
        "duration": "3h",
    }
    first, again = run(read(**spec)), run(read(**spec))
    assert encoded(first) == encoded(again)
    assert encoded(run(read(**spec), seed=2)) != encoded(first)
    assert first.metrics["node_failures"] > 0


def test_run_times_free_room_for_those_who_wait() -> None:
    spec: dict[str, Any] = {
        "cluster": {"pools": [{**WORKERS, "count": 1}]},
        "duration": "3h",
    }
    burst = tenant(
        arrivals={"burst": {"count": 8}},
        runTime={"constant": "30m"},
        workloads=[{"name": "pod", "requests": {"cpu": 1}}],
    )
    ran = run(read(tenants=[burst], **spec))
    assert ran.metrics["finished"] == 8
    assert sorted(round(pod.waited_s) for pod in ran.report.pods) == pytest.approx(
        [0] * 4 + [1800] * 4, abs=3
    )
    assert ran.metrics["wait_p50_s"] == pytest.approx(0.004, abs=0.01)


def test_pods_of_a_node_that_fails_come_back_and_so_does_the_node() -> None:
    failures = [{"name": "crash", "times": ["30m"], "repair": {"constant": "20m"}}]
    pools = {"pools": [{**WORKERS, "count": 1}]}
    spec: dict[str, Any] = {"cluster": pools, "nodeFailures": failures}
    (pod,) = run(read(tenants=[one_pod(1)], **spec)).report.pods
    assert pod.state is TimedPodState.FINISHED
    assert pod.node_losses == 1
    # The node is back after 20 minutes, and the pod may be backing off for 10 seconds.
    assert pod.waited_s == pytest.approx(20 * 60, abs=12)
    assert pod.ended_s == pytest.approx((30 + 20 + 60) * 60, abs=12)
    workloads = [{"name": "pod", "bare": True, "requests": {"cpu": 1}}]
    (bare,) = run(read(tenants=[one_pod(1, workloads=workloads)], **spec)).report.pods
    assert bare.state is TimedPodState.GONE


def test_a_zone_fails_as_one() -> None:
    pools = {"pools": [{**WORKERS, "count": 6, "zones": ["a", "b", "c"]}]}
    failures = [{"name": "outage", "zone": "b", "times": ["1h"], "repair": {"constant": "1h"}}]
    ran = run(read(cluster=pools, nodeFailures=failures, duration="4h"))
    counts = {sample.nodes for sample in ran.report.samples}
    assert counts == {6, 4}
    gone = [each.node.metadata.name for each in ran.report.nodes if each.until_s is not None]
    assert gone == ["workers-1", "workers-4"]


def scaled(**fields: Any) -> ScenarioRun:
    pools = [
        {**WORKERS, "count": 1},
        {"name": "extra", "count": 0, "price": 1, "allocatable": {"cpu": 8, "memory": "8Gi"}},
    ]
    autoscaler = {
        "scaleDownAfter": "10m",
        "pools": [{"pool": "extra", "min": 0, "max": 2, "delay": "3m"}],
    }
    return run(read(cluster={"pools": pools}, autoscaler=autoscaler, **fields))


def test_the_autoscaler_adds_a_node_after_its_delay_and_removes_it_when_idle() -> None:
    ran = scaled(tenants=[one_pod(6)])
    (pod,) = ran.report.pods
    assert pod.node == "extra-0"
    assert pod.waited_s == pytest.approx(190, abs=12)
    assert (ran.metrics["scale_ups"], ran.metrics["scale_downs"]) == (1, 1)
    (extra,) = [each for each in ran.report.nodes if each.node.metadata.name == "extra-0"]
    assert pod.ended_s is not None
    assert extra.until_s == pytest.approx(pod.ended_s + 600, abs=12)
    assert ran.metrics["cost"] == pytest.approx((extra.until_s or 0 - extra.from_s) / HOUR, rel=0.1)


def test_the_autoscaler_adds_no_node_for_pods_that_fit_none() -> None:
    ran = scaled(tenants=[one_pod(16)])
    assert ran.metrics["scale_ups"] == 0
    assert ran.metrics["pending"] == 1


def test_the_autoscaler_counts_nodes_that_are_coming_and_stops_at_its_maximum() -> None:
    burst = tenant(
        arrivals={"burst": {"count": 30}},
        runTime={"constant": "20m"},
        workloads=[{"name": "pod", "requests": {"cpu": 2}}],
    )
    ran = scaled(tenants=[burst], duration="4h")
    assert ran.metrics["finished"] == 30
    assert max(sample.nodes for sample in ran.report.samples) == 3


def test_gangs_get_nodes_together_and_their_groups_go() -> None:
    workloads = [{"name": "gang", "replicas": 4, "gang": True, "requests": {"cpu": 2}}]
    gangs = tenant(arrivals={"interval": {"every": "15m"}}, workloads=workloads)
    gates = {"GenericWorkload": True, "GangScheduling": True}
    ran = run(read(tenants=[gangs], featureGates=gates))
    by_gang: dict[str, list[TimedPod]] = {}
    for pod in ran.report.pods:
        by_gang.setdefault(pod.key.rpartition("-")[2], []).append(pod)
    bound = [{round(pod.bound_s or 0, 1) for pod in pods} for pods in by_gang.values()]
    assert all(len(times) == 1 for times in bound)
    assert ran.metrics["placed"] > 50


def test_metrics_and_workloads_add_up() -> None:
    ran = run(read())
    (web,) = ran.workloads
    assert web.arrived == ran.metrics["arrived"] == len(ran.report.pods)
    assert web.finished + web.running + web.pending == web.arrived
    assert ran.metrics["node_hours"] == pytest.approx(12.0)
    assert 0 < ran.metrics["cpu_share"] < 1


def test_scale_until_and_another_cluster_are_heeded() -> None:
    scenario = read(duration="2h")
    large = run(scenario, scale=3.0)
    assert large.report.samples[0].nodes == 6
    assert large.metrics["arrived"] > 2 * run(scenario).metrics["arrived"]
    assert run(scenario, until_s=HOUR).report.duration_s == HOUR
    nodes = (make_node("mine", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}),)
    ran = run(scenario, cluster=Scenario(nodes, (), ()))
    assert {pod.node for pod in ran.report.pods if pod.node} == {"mine"}
    with pytest.raises(InputError, match="has no nodes; give it pools"):
        run(read(cluster={}))


@pytest.mark.parametrize("name", list_ready_scenarios())
def test_a_ready_scenario_runs_and_says_what_it_is_about(name: str) -> None:
    scenario = find_scenario(name, gates=FeatureGates())
    assert scenario.name == name
    assert scenario.description.endswith(".")
    ran = run_scenario(
        scenario,
        CONFIGURATION,
        in_tree_registry(),
        until_s=3 * HOUR,
        scale=0.25,
        gates=FeatureGates(),
    )
    assert ran.metrics["placed"] > 0


def test_an_unknown_scenario_is_refused_with_a_guess() -> None:
    with pytest.raises(InputError, match="did you mean zone-outage"):
        find_scenario("zone-outages", gates=FeatureGates())
