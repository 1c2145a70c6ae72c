"""Podium's scheduler in a cluster with nodes and controllers, in virtual time."""

from functools import partial

from support.live.live_clusters import (
    condition_of,
    events_about,
    in_live_cluster,
    is_bound,
    is_running,
    pod,
)
from support.live.scheduler_at_work import scheduling
from support.simulated.simulated_clusters import Cluster, workload

from podium.client.resources import (
    DEPLOYMENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STORAGE_CLASSES,
)
from podium.live.assembly import Assembly


def test_the_pods_of_a_deployment_are_bound_and_run() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 6))

        async def available() -> bool:
            status = (await cluster.get(DEPLOYMENTS, "web"))["status"]
            return bool(status.get("availableReplicas") == 6)

        await cluster.until(available)
        found = await cluster.all(PODS)
        assert {each["spec"]["nodeName"] for each in found} == {"node-0", "node-1", "node-2"}
        name = found[0]["metadata"]["name"]
        node = found[0]["spec"]["nodeName"]
        await assembly.recorder.flush(5)
        assert ("Scheduled", f"Successfully assigned default/{name} to {node}") in (
            await events_about(cluster, name)
        )
        assert not assembly.scheduler.trouble

    in_live_cluster(scenario)


def test_a_pod_that_does_not_fit_says_why_and_runs_once_it_does() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "6"))

        async def told() -> bool:
            condition = await condition_of(cluster, "large", "PodScheduled")
            return condition is not None

        await cluster.until(told)
        condition = await condition_of(cluster, "large", "PodScheduled")
        assert condition is not None
        assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
        message = condition["message"]
        assert message.startswith("0/3 nodes are available: 3 Insufficient cpu.")
        assert condition["observedGeneration"] == 1
        await assembly.recorder.flush(5)
        assert await events_about(cluster, "large") == [("FailedScheduling", message)]

        larger = {"metadata": {"name": "node-9", "labels": {"podium.dev/simulated": "true"}}}
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        larger["status"] = {"allocatable": amounts, "capacity": amounts}
        await cluster.create(NODES, larger)
        await cluster.until(lambda: is_running(cluster, "large"))
        assert (await cluster.get(PODS, "large"))["spec"]["nodeName"] == "node-9"
        condition = await condition_of(cluster, "large", "PodScheduled")
        assert condition is not None
        assert condition["status"] == "True"

    in_live_cluster(scenario)


def test_a_pod_that_matters_more_pushes_others_aside() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        for number in range(2):
            await cluster.create(PODS, pod(f"low-{number}", "3"))
        for name in ("low-0", "low-1"):
            await cluster.until(partial(is_running, cluster, name))
        await cluster.create(
            PODS, pod("high", "3", priorityClassName="system-node-critical"), "kube-system"
        )

        async def bound() -> bool:
            found = await cluster.get(PODS, "high", "kube-system")
            return bool(found["spec"].get("nodeName"))

        await cluster.until(bound)
        left = [each["metadata"]["name"] for each in await cluster.all(PODS)]
        assert len(left) == 2
        (victim,) = {"low-0", "low-1"} - set(left)
        await assembly.recorder.flush(5)
        reasons = [reason for reason, _ in await events_about(cluster, victim)]
        assert "Preempted" in reasons

    in_live_cluster(scenario, nodes=2)


def test_a_claim_that_waits_for_its_first_consumer_is_provisioned() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(
            STORAGE_CLASSES,
            {
                "metadata": {"name": "local"},
                "provisioner": "example.com/local-path",
                "volumeBindingMode": "WaitForFirstConsumer",
            },
        )
        await cluster.create(
            PERSISTENT_VOLUME_CLAIMS,
            {
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "local",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            },
        )
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        await cluster.create(PODS, pod("db", volumes=[volume]))
        await cluster.until(lambda: is_running(cluster, "db"))
        claim = await cluster.get(PERSISTENT_VOLUME_CLAIMS, "data")
        node = (await cluster.get(PODS, "db"))["spec"]["nodeName"]
        assert claim["status"]["phase"] == "Bound"
        assert claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == node

    in_live_cluster(scenario)


def test_a_gated_pod_waits_until_its_gates_are_gone() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(PODS, pod("later", schedulingGates=[{"name": "example.com/wait"}]))
        await cluster.create(PODS, pod("now"))
        await cluster.until(lambda: is_bound(cluster, "now"))
        assert not await is_bound(cluster, "later")
        await cluster.patch(PODS, "later", {"spec": {"schedulingGates": []}})
        await cluster.until(lambda: is_bound(cluster, "later"))

    in_live_cluster(scenario)


def test_pods_of_other_schedulers_are_left_alone_and_counted() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("foreign", "3", schedulerName="somebody-else"))
        await cluster.create(PODS, pod("ours", "1"))
        await cluster.until(lambda: is_bound(cluster, "ours"))
        assert not await is_bound(cluster, "foreign")
        node = (await cluster.get(PODS, "ours"))["spec"]["nodeName"]
        target = {"target": {"kind": "Node", "name": node}, "metadata": {"name": "foreign"}}
        await cluster.client.create(PODS, target, "default", name="foreign", subresource="binding")
        await cluster.create(PODS, pod("third", "2"))
        await cluster.until(lambda: is_bound(cluster, "third"))
        assert (await cluster.get(PODS, "third"))["spec"]["nodeName"] != node
        assert "default/foreign" in assembly.engine.state.pods

    in_live_cluster(scenario, nodes=2)


def test_a_scheduler_that_is_started_anew_goes_on_where_the_last_one_was() -> None:
    async def scenario(cluster: Cluster, first: Assembly) -> None:
        await cluster.create(PODS, pod("a", "3"))
        await cluster.create(PODS, pod("too-large", "6"))
        await cluster.until(lambda: is_bound(cluster, "a"))
        async with scheduling(cluster.client) as second:
            assert len(second.engine.state.pods) == len(first.engine.state.pods)
            requested = [each.engine.cluster.usage.requested for each in (first, second)]
            assert requested[0].sum() == requested[1].sum()
            await cluster.create(PODS, pod("b", "3"))
            await cluster.until(lambda: is_bound(cluster, "b"))
            assert (await cluster.get(PODS, "a"))["spec"]["nodeName"] != (
                await cluster.get(PODS, "b")
            )["spec"]["nodeName"]

    in_live_cluster(scenario)


def test_a_finished_pod_gives_its_room_back() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        brief = pod("brief", "3", restartPolicy="Never")
        brief["metadata"]["annotations"] = {"podium.dev/run-seconds": "5"}
        await cluster.create(PODS, brief)
        await cluster.until(lambda: is_running(cluster, "brief"))
        await cluster.create(PODS, pod("next", "3"))
        await cluster.until(lambda: is_running(cluster, "next"))

    in_live_cluster(scenario, nodes=1)


def test_a_pod_that_no_event_helps_is_tried_again_after_minutes() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "64"))

        async def attempts() -> int:
            story = assembly.engine.state.pod_log.lines("default/large")
            return sum(line.what == "tried" for line in story)

        async def tried_again() -> bool:
            return await attempts() >= 2

        took_s = await cluster.until(tried_again, within_s=400)
        assert 300 <= took_s <= 335

    in_live_cluster(scenario, nodes=1, controllers=())
