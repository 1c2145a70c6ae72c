"""What a live scheduler counts while it works in a cluster, in virtual time."""

from functools import partial

import pytest
from support.live.live_clusters import condition_of, in_live_cluster, is_bound, is_running, pod
from support.live.moody_transport import Judge, Times, binds, moody, refusal
from support.live.virtual_loop import sleep_virtually
from support.live.watched_metrics import LiveMetrics
from support.simulated.simulated_clusters import Cluster

from podium.client import DeleteOptions
from podium.client.resources import (
    DEVICE_CLASSES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_SLICES,
    STORAGE_CLASSES,
)
from podium.client.transport import Reply, Request
from podium.live.assembly import Assembly

OURS = "default-scheduler"
POINTS = "scheduler_framework_extension_point_duration_seconds"
CALLS = "scheduler_async_api_call_execution_total"
CALL_DURATION = "scheduler_async_api_call_execution_duration_seconds"
HANDLED = "scheduler_event_handling_duration_seconds_count"
PREEMPTIONS = "scheduler_preemption_goroutines_execution_total"
PREEMPTION_DURATION = "scheduler_preemption_goroutines_duration_seconds"


def slowly(request: Request) -> float | None:
    """Bindings take a quarter of a second, status patches half a second, deletions two."""
    if request.path.endswith("/binding"):
        return 0.25
    if request.path.endswith("/status"):
        return 0.5
    return 2.0 if request.method == "DELETE" else None


def points(metrics: LiveMetrics, part: str) -> dict[str, float]:
    """Extension points of the binding cycle that went well -> a number of their histogram."""
    return {
        point: number
        for (point, _, status), number in metrics.samples(f"{POINTS}_{part}").items()
        if status == "Success" and point.endswith("Bind")
    }


def test_a_binding_is_timed_point_by_point_and_as_a_write() -> None:
    metrics = LiveMetrics()

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("web"))
        await cluster.until(lambda: is_bound(cluster, "web"))
        await assembly.scheduler.dispatcher.wait_until_idle()

    in_live_cluster(scenario, between=moody(slowly), metrics=metrics)
    assert metrics.samples("scheduler_schedule_attempts_total") == {(OURS, "scheduled"): 1}
    assert points(metrics, "count") == {"PreBind": 1, "Bind": 1, "PostBind": 1}
    assert points(metrics, "sum") == {"PreBind": 0, "Bind": pytest.approx(0.25), "PostBind": 0}
    assert metrics.samples(CALLS) == {("pod_binding", "success"): 1}
    took = metrics.samples(f"{CALL_DURATION}_sum")
    assert took == {("pod_binding", "success"): pytest.approx(0.25)}


def test_a_volume_that_is_waited_for_is_time_of_pre_bind() -> None:
    metrics = LiveMetrics()
    waiting = {
        "metadata": {"name": "later"},
        "provisioner": "example.com/disks",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "later",
        },
    }

    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(STORAGE_CLASSES, waiting)
        await cluster.create(PERSISTENT_VOLUME_CLAIMS, claim)
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
        await cluster.create(PODS, pod("db", volumes=[volume]))
        await cluster.until(lambda: is_running(cluster, "db"))

    in_live_cluster(scenario, metrics=metrics)
    assert points(metrics, "count")["PreBind"] == 1
    assert points(metrics, "sum")["PreBind"] > 0
    handled = metrics.samples(HANDLED)
    assert handled["storage.k8s.io/StorageClassAdd",] >= 1
    assert handled["PersistentVolumeClaimUpdate",] >= 1


def test_a_binding_that_is_refused_counts_as_an_error_of_its_point() -> None:
    metrics, broken = LiveMetrics(), Times(2)

    def judge(request: Request) -> Reply | None:
        if binds(request, "web") and broken():
            return refusal(500, "InternalError", "the store is away")
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("web"))
        await cluster.until(lambda: is_bound(cluster, "web"))
        await assembly.scheduler.dispatcher.wait_until_idle()

    in_live_cluster(scenario, between=moody(judge), metrics=metrics)
    counts = metrics.samples(f"{POINTS}_count")
    assert (counts["Bind", OURS, "Error"], counts["Bind", OURS, "Success"]) == (2, 1)
    assert metrics.samples(CALLS)["pod_binding", "error"] == 2
    assert metrics.samples(CALLS)["pod_binding", "success"] == 1


def test_the_reason_of_a_failure_is_a_write_that_nobody_waits_for() -> None:
    metrics = LiveMetrics()

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "64"))

        async def is_told() -> bool:
            return await condition_of(cluster, "large", "PodScheduled") is not None

        await cluster.until(is_told)
        await assembly.scheduler.dispatcher.wait_until_idle()

    in_live_cluster(scenario, between=moody(slowly), metrics=metrics)
    assert metrics.samples(CALLS) == {("pod_status_patch", "success"): 1}
    took = metrics.samples(f"{CALL_DURATION}_sum")
    assert took == {("pod_status_patch", "success"): pytest.approx(0.5)}


def preempt(metrics: LiveMetrics, judge: Judge) -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        for name in ("low-0", "low-1"):
            await cluster.create(PODS, pod(name, "1500m"))
            await cluster.until(partial(is_running, cluster, name))
        high = pod("high", "3", priorityClassName="system-cluster-critical")
        await cluster.create(PODS, high, "kube-system")

        async def bound() -> bool:
            found = await cluster.get(PODS, "high", "kube-system")
            return bool(found["spec"].get("nodeName"))

        await cluster.until(bound, within_s=600)
        await assembly.scheduler.dispatcher.wait_until_idle()

    in_live_cluster(scenario, nodes=1, between=moody(judge), metrics=metrics)


def test_a_preemption_is_counted_with_its_victims_and_their_evictions() -> None:
    metrics = LiveMetrics()
    preempt(metrics, slowly)
    assert metrics.samples("scheduler_preemption_attempts_total")[()] >= 1
    assert metrics.samples("scheduler_preemption_victims_sum") == {(): 2}
    assert metrics.samples("scheduler_preemption_victims_count") == {(): 1}
    assert metrics.samples(PREEMPTIONS) == {("success",): 1}
    # One victim after the other: a condition that takes half a second, a deletion of two.
    took = metrics.samples(f"{PREEMPTION_DURATION}_sum")
    assert took == {("success",): pytest.approx(5.0)}


def test_a_preemption_whose_eviction_is_refused_is_an_error() -> None:
    metrics, broken = LiveMetrics(), Times(1)

    def judge(request: Request) -> Reply | None:
        if request.method == "DELETE" and "/pods/" in request.path and broken():
            return refusal(500, "InternalError", "not now")
        return None

    preempt(metrics, judge)
    assert metrics.samples(PREEMPTIONS)["error",] == 1
    assert metrics.samples(PREEMPTIONS)["success",] >= 1


def test_changes_of_the_cluster_are_counted_as_they_are_taken_in() -> None:
    metrics = LiveMetrics()

    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(PODS, pod("web"))
        await cluster.until(lambda: is_running(cluster, "web"))
        await cluster.patch(NODES, "node-0", {"metadata": {"labels": {"disk": "ssd"}}})
        await cluster.create(PODS, pod("large", "64"))
        await sleep_virtually(1)
        await cluster.patch(PODS, "large", {"metadata": {"labels": {"app": "x"}}})
        await cluster.patch(PODS, "web", {"metadata": {"labels": {"app": "x"}}})
        for name in ("web", "large"):
            await cluster.client.delete(PODS, name, "default", DeleteOptions(grace_period_s=0))
        await cluster.client.delete(NODES, "node-2")
        await sleep_virtually(1)

    in_live_cluster(scenario, metrics=metrics, controllers=())
    handled = {event: count for (event,), count in metrics.samples(HANDLED).items()}
    assert handled["NodeAdd"] == 3
    assert handled["NodeUpdateNodeLabel"] == 1
    assert handled["NodeDelete"] == 1
    assert handled["UnschedulablePodAdd"] == 2
    assert handled["AssignedPodAdd"] == 1
    assert handled["AssignedPodUpdatePodLabel"] == handled["UnschedulablePodUpdatePodLabel"] == 1
    assert handled["AssignedPodUpdate"] >= 2, "the kubelet's word, and the label"
    assert handled["UnschedulablePodUpdate"] >= 2, "the reason of the failure, and the label"
    assert handled["AssignedPodDelete"] == 1
    assert handled["UnschedulablePodDelete"] == 2, "one was bound, one is gone"


@pytest.mark.parametrize("refused", [0, 1])
def test_claims_for_extended_resources_are_counted(refused: int) -> None:
    metrics, broken = LiveMetrics(), Times(refused)

    def judge(request: Request) -> Reply | None:
        if request.method == "POST" and "resourceclaims" in request.path and broken():
            return refusal(500, "InternalError", "not now")
        return None

    async def scenario(cluster: Cluster, _: Assembly) -> None:
        selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
        device_class = {"selectors": [selector], "extendedResourceName": "example.com/gpu"}
        await cluster.create(DEVICE_CLASSES, {"metadata": {"name": "gpu"}, "spec": device_class})
        pool = {"name": "node-0", "generation": 1, "resourceSliceCount": 1}
        spec = {
            "driver": "gpu.example.com",
            "nodeName": "node-0",
            "pool": pool,
            "devices": [{"name": "gpu-0"}],
        }
        await cluster.create(RESOURCE_SLICES, {"metadata": {"name": "gpus"}, "spec": spec})
        wants = pod("train")
        amounts = {"example.com/gpu": "1", "cpu": "100m"}
        wants["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        await cluster.create(PODS, wants)
        await cluster.until(lambda: is_bound(cluster, "train"))

    in_live_cluster(scenario, nodes=2, between=moody(judge), metrics=metrics)
    failures: dict[tuple[str, ...], float] = {("failure",): refused} if refused else {}
    created = metrics.samples("scheduler_resourceclaim_creates_total")
    assert created == {("success",): 1, **failures}
