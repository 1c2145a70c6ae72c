"""Nodes that fail, pods that leave them, budgets, namespaces and claims, in virtual time."""

from typing import Any

import pytest
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import (
    Cluster,
    in_cluster,
    pod_spec,
    template,
    workload,
)

from podium.client.api_errors import Forbidden, TooManyRequests
from podium.client.resources import (
    DEPLOYMENTS,
    DEVICE_CLASSES,
    EVENTS,
    JOBS,
    LEASES,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    STORAGE_CLASSES,
    ResourceType,
)

FAILURE = "podium.dev/failure"


async def condition(cluster: Cluster, node: str, name: str = "Ready") -> str:
    found = await cluster.get(NODES, node)
    conditions = found["status"].get("conditions", ())
    return str(next((c["status"] for c in conditions if c["type"] == name), ""))


async def taints(cluster: Cluster, node: str) -> set[tuple[str, str]]:
    found = await cluster.get(NODES, node)
    return {
        (t["key"].removeprefix("node.kubernetes.io/"), t["effect"])
        for t in found["spec"].get("taints", ())
    }


async def fail(cluster: Cluster, node: str, how: str | None) -> None:
    await cluster.patch(NODES, node, {"metadata": {"annotations": {FAILURE: how}}})


async def phase(cluster: Cluster, pod: str) -> str:
    return str((await cluster.get(PODS, pod))["status"]["phase"])


def test_nodes_become_ready_lose_their_first_taint_and_keep_their_leases() -> None:
    async def scenario(cluster: Cluster) -> None:
        assert await taints(cluster, "node-0") == {("not-ready", "NoSchedule")}

        async def up() -> bool:
            names = [f"node-{i}" for i in range(3)]
            return all([await condition(cluster, name) == "True" for name in names]) and not any(
                [await taints(cluster, name) for name in names]
            )

        await cluster.until(up, within_s=5)
        first = (await cluster.get(LEASES, "node-1", "kube-node-lease"))["spec"]["renewTime"]
        await sleep_virtually(120)
        last = (await cluster.get(LEASES, "node-1", "kube-node-lease"))["spec"]["renewTime"]
        assert last > first
        assert last >= "2027-01-15T08:01:50"
        assert await condition(cluster, "node-1") == "True"

    in_cluster(scenario)


def test_a_node_that_falls_silent_loses_its_pods_and_may_come_back() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 3))

        async def spread() -> bool:
            pods = await cluster.all(PODS)
            on = {pod["spec"].get("nodeName") for pod in pods}
            return len(on) == 3 and {pod["status"]["phase"] for pod in pods} == {"Running"}

        await cluster.until(spread)
        await fail(cluster, "node-1", "unreachable")

        async def unknown() -> bool:
            return await condition(cluster, "node-1") == "Unknown"

        noticed_s = await cluster.until(unknown)
        assert 35 <= noticed_s <= 65

        async def tainted() -> bool:
            found = await taints(cluster, "node-1")
            return found == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}

        await cluster.until(tainted, within_s=5)
        victim = next(pod for pod in await cluster.all(PODS) if pod["spec"]["nodeName"] == "node-1")
        name = victim["metadata"]["name"]

        async def unready() -> bool:
            pod = await cluster.get(PODS, name)
            return any(
                c["type"] == "Ready" and c["status"] == "False" for c in pod["status"]["conditions"]
            )

        await cluster.until(unready, within_s=5)

        async def evicted() -> bool:
            return "deletionTimestamp" in (await cluster.get(PODS, name))["metadata"]

        stayed_s = await cluster.until(evicted, within_s=320)
        assert 295 <= stayed_s <= 305, "the default toleration is 300 s"
        events = {event["reason"] for event in await cluster.all(EVENTS)}
        assert "TaintManagerEviction" in events

        async def replaced() -> bool:
            status = (await cluster.get(DEPLOYMENTS, "web"))["status"]
            return bool(status.get("availableReplicas") == 3)

        await cluster.until(replaced)
        assert await cluster.exists(PODS, name), "nobody is there to end it"
        await fail(cluster, "node-1", None)

        async def back() -> bool:
            ready = await condition(cluster, "node-1") == "True"
            return ready and not await taints(cluster, "node-1")

        await cluster.until(back, within_s=10)

        async def ended() -> bool:
            return not await cluster.exists(PODS, name)

        await cluster.until(ended, within_s=10)

    in_cluster(scenario)


def test_a_short_failure_cancels_the_eviction_and_pods_are_ready_again() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 3))
        await sleep_virtually(5)
        await fail(cluster, "node-0", "not-ready")

        async def tainted() -> bool:
            return ("not-ready", "NoExecute") in await taints(cluster, "node-0")

        assert await cluster.until(tainted) < 5, "it says so itself"
        await sleep_virtually(100)
        await fail(cluster, "node-0", None)
        await sleep_virtually(400)
        pods = await cluster.all(PODS)
        assert len(pods) == 3
        assert (await cluster.get(DEPLOYMENTS, "web"))["status"]["availableReplicas"] == 3
        reasons = [event["message"] for event in await cluster.all(EVENTS)]
        assert any(reason.startswith("Cancelling deletion of Pod") for reason in reasons)

    in_cluster(scenario)


def test_pods_of_a_node_that_is_deleted_are_collected() -> None:
    async def scenario(cluster: Cluster) -> None:
        pinned = pod_spec(nodeName="node-2")
        await cluster.create(PODS, {"metadata": {"name": "lonely"}, "spec": pinned})
        await sleep_virtually(3)
        assert await phase(cluster, "lonely") == "Running"
        await cluster.client.delete(NODES, "node-2")

        async def gone() -> bool:
            return not await cluster.exists(PODS, "lonely")

        assert 38 <= await cluster.until(gone) <= 45
        assert not await cluster.exists(LEASES, "node-2", "kube-node-lease")

    in_cluster(scenario)


def test_evictions_keep_to_the_budget() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 3))
        spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
        await cluster.create(POD_DISRUPTION_BUDGETS, {"metadata": {"name": "guard"}, "spec": spec})

        async def allowed() -> bool:
            status = (await cluster.get(POD_DISRUPTION_BUDGETS, "guard"))["status"]
            return bool(status["disruptionsAllowed"] == 1)

        await cluster.until(allowed)
        first, second, _ = [pod["metadata"]["name"] for pod in await cluster.all(PODS)]

        async def evict(name: str) -> None:
            body = {"metadata": {"name": name, "namespace": "default"}}
            await cluster.client.create(PODS, body, "default", name=name, subresource="eviction")

        await evict(first)
        with pytest.raises(TooManyRequests, match="disruption budget"):
            await evict(second)
        await cluster.until(allowed)
        await evict(second)

    in_cluster(scenario)


def test_a_namespace_goes_with_everything_in_it() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await cluster.create(DEPLOYMENTS, workload("web", 2), "shop")
        run = template("sum", {"podium.dev/run-seconds": "600"}, restartPolicy="Never")
        job = {"metadata": {"name": "sum"}, "spec": {"template": run}}
        await cluster.create(JOBS, job, "shop")
        settings = ResourceType("", "v1", "configmaps", "ConfigMap")
        await cluster.create(settings, {"metadata": {"name": "c"}}, "shop")
        await sleep_virtually(5)
        await cluster.client.delete(NAMESPACES, "shop")
        with pytest.raises(Forbidden):
            await cluster.create(settings, {"metadata": {"name": "late"}}, "shop")

        async def gone() -> bool:
            return not await cluster.exists(NAMESPACES, "shop")

        await cluster.until(gone, within_s=30)
        for resource in (DEPLOYMENTS, JOBS, PODS):
            assert await cluster.all(resource) == []

    in_cluster(scenario)


def test_claims_are_made_for_pods_and_go_with_them() -> None:
    async def scenario(cluster: Cluster) -> None:
        storage = {"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
        await cluster.create(STORAGE_CLASSES, storage)
        await cluster.create(DEVICE_CLASSES, {"metadata": {"name": "gpu"}, "spec": {}})
        offer = {
            "driver": "gpu.example.com",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        }
        await cluster.create(RESOURCE_SLICES, {"metadata": {"name": "gpus"}, "spec": offer})
        exactly = {"deviceClassName": "gpu"}
        devices = {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
        await cluster.create(
            RESOURCE_CLAIM_TEMPLATES, {"metadata": {"name": "one-gpu"}, "spec": devices}
        )
        scratch = {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "fast",
                "resources": {"requests": {"storage": "1Gi"}},
            }
        }
        spec = pod_spec(
            volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": scratch}}],
            resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        )
        await cluster.create(PODS, {"metadata": {"name": "user"}, "spec": spec})

        async def running() -> bool:
            return await phase(cluster, "user") == "Running"

        await cluster.until(running)
        (told,) = (await cluster.get(PODS, "user"))["status"]["resourceClaimStatuses"]
        (claim,) = await cluster.all(RESOURCE_CLAIMS)
        assert told["resourceClaimName"] == claim["metadata"]["name"]
        assert await cluster.exists(PERSISTENT_VOLUME_CLAIMS, "user-scratch")
        await cluster.client.delete(PODS, "user", "default")

        async def gone() -> bool:
            kinds = (PODS, RESOURCE_CLAIMS, PERSISTENT_VOLUME_CLAIMS)
            return not any([await cluster.all(kind) for kind in kinds])

        await cluster.until(gone)

    in_cluster(scenario)


def test_everything_goes_faster_when_time_is_sped_up() -> None:
    async def scenario(cluster: Cluster) -> None:
        run = {"podium.dev/run-seconds": "600"}
        spec = {"template": template("sum", run, restartPolicy="Never")}
        await cluster.create(JOBS, {"metadata": {"name": "sum"}, "spec": spec})

        async def complete() -> bool:
            status = (await cluster.get(JOBS, "sum"))["status"]
            return any(c["type"] == "Complete" for c in status.get("conditions", ()))

        assert 29 <= await cluster.until(complete) <= 33
        await fail(cluster, "node-0", "unreachable")

        async def unknown() -> bool:
            return await condition(cluster, "node-0") == "Unknown"

        assert await cluster.until(unknown) < 5

    in_cluster(scenario, speed=20)


def test_without_controllers_only_nodes_and_their_pods_live() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 2))
        pinned = pod_spec(nodeName="node-0")
        await cluster.create(PODS, {"metadata": {"name": "alone"}, "spec": pinned})
        await sleep_virtually(5)
        (pod,) = await cluster.all(PODS)
        assert (pod["metadata"]["name"], pod["status"]["phase"]) == ("alone", "Running")

    in_cluster(scenario, controllers=())


def test_kubelets_refuse_what_was_bound_past_the_scheduler() -> None:
    async def scenario(cluster: Cluster) -> None:
        large = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "5"}}}]
        for name in ("first", "second"):
            spec = {"nodeName": "node-0", "containers": large}
            await cluster.create(PODS, {"metadata": {"name": name}, "spec": spec})

        async def settled() -> bool:
            phases = [each["status"]["phase"] for each in await cluster.all(PODS)]
            return sorted(phases) == ["Failed", "Running"]

        await cluster.until(settled)
        (failed,) = [p for p in await cluster.all(PODS) if p["status"]["phase"] == "Failed"]
        assert failed["status"]["reason"] == "OutOfcpu"
        assert failed["status"]["message"] == (
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 5000, "
            "used: 5000, capacity: 8000"
        )

    in_cluster(scenario, nodes=1)


def test_more_capacity_makes_room_for_pods_that_wait() -> None:
    async def scenario(cluster: Cluster) -> None:
        large = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "12"}}}]
        await cluster.create(PODS, {"metadata": {"name": "large"}, "spec": {"containers": large}})
        await sleep_virtually(5)
        patch = {"status": {"capacity": {"cpu": "16"}}}
        await cluster.patch(NODES, "node-0", patch, subresource="status")

        async def runs() -> bool:
            return bool((await cluster.get(PODS, "large"))["status"]["phase"] == "Running")

        await cluster.until(runs)
        node = await cluster.get(NODES, "node-0")
        assert node["status"]["allocatable"]["cpu"] == "16"

    in_cluster(scenario, nodes=1)


def test_commands_decide_how_a_pod_ends_and_hooks_when_it_goes() -> None:
    async def scenario(cluster: Cluster) -> None:
        async def run(name: str, script: str, **more: Any) -> None:
            container = {"name": "c", "image": "busybox", "command": ["sh", "-c", script]}
            hook = {"preStop": {"sleep": {"seconds": 8}}}
            spec = {"containers": [{**container, "lifecycle": hook}], **more}
            await cluster.create(PODS, {"metadata": {"name": name}, "spec": spec})

        async def phase(name: str) -> str:
            return str((await cluster.get(PODS, name))["status"]["phase"])

        await run("good", "sleep 3 && true", restartPolicy="Never")
        await run("bad", "sleep 3; exit 7", restartPolicy="Never")
        await run("crashing", "false")
        await run("steady", "sleep 3600")

        async def ended() -> bool:
            return await phase("good") == "Succeeded" and await phase("bad") == "Failed"

        await cluster.until(ended)
        state = (await cluster.get(PODS, "bad"))["status"]["containerStatuses"][0]["state"]
        assert state["terminated"]["exitCode"] == 7
        (crashing,) = (await cluster.get(PODS, "crashing"))["status"]["containerStatuses"]
        assert crashing["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        await cluster.client.delete(PODS, "steady", "default")

        async def gone() -> bool:
            return not await cluster.exists(PODS, "steady")

        took_s = await cluster.until(gone)
        assert 9 <= took_s < 10

    in_cluster(scenario, nodes=1)
