"""Claims that take of their node's own resources, in a living cluster."""

from typing import Any

from support.live.live_clusters import condition_of, in_live_cluster, is_bound, is_running, pod
from support.live.moody_transport import Times, binds, moody, refusal
from support.simulated.simulated_clusters import Cluster

from podium.client.resources import DEVICE_CLASSES, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from podium.client.transport import Reply, Request
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly

GATES = FeatureGates({"DRANodeAllocatableResources": True})


async def _offer(cluster: Cluster) -> None:
    """One device on one node of four cpus, which stands for three of them."""
    await cluster.create(DEVICE_CLASSES, {"metadata": {"name": "cpus"}, "spec": {}})
    mappings = {"cpu": {"allocationMultiplier": "3"}}
    spec = {
        "driver": "cpu.example.com",
        "nodeName": "node-0",
        "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "numa-0", "nodeAllocatableResourceMappings": mappings}],
    }
    await cluster.create(RESOURCE_SLICES, {"metadata": {"name": "node-0"}, "spec": spec})
    request = {"name": "r", "exactly": {"deviceClassName": "cpus"}}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}}
    await cluster.create(RESOURCE_CLAIMS, claim)


def _pinned(name: str) -> dict[str, Any]:
    made = pod(name, resourceClaims=[{"name": "cpus", "resourceClaimName": "c"}])
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "cpus"}]
    return made


def test_the_status_tells_what_the_claim_takes_and_others_find_it_taken() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await _offer(cluster)
        await cluster.create(PODS, _pinned("pinned"))
        await cluster.until(lambda: is_running(cluster, "pinned"))
        found = await cluster.get(PODS, "pinned")
        name = found["spec"]["containers"][0]["name"]
        assert found["status"]["nodeAllocatableResourceClaimStatuses"] == [
            {"resourceClaimName": "c", "containers": [name], "resources": {"cpu": "3"}}
        ]

        await cluster.create(PODS, pod("plain", cpu="1"))
        await cluster.create(PODS, _pinned("second"))

        async def message(name: str) -> str:
            condition = await condition_of(cluster, name, "PodScheduled") or {}
            return str(condition.get("message", ""))

        async def both_are_refused() -> bool:
            return bool(await message("plain") and await message("second"))

        await cluster.until(both_are_refused)
        assert "Insufficient cpu" in await message("plain")
        used = "node allocatable resource claim c is already used by another pod"
        assert used in await message("second")

    in_live_cluster(scenario, nodes=1, gates=GATES)


def test_a_binding_that_fails_takes_the_status_back_and_counts_stay_true() -> None:
    fails = Times(1)
    patches: list[bytes] = []

    def judge(request: Request) -> Reply | None:
        body = bytes(request.body or b"")
        if request.method == "PATCH" and b"nodeAllocatableResourceClaimStatuses" in body:
            patches.append(body)
        if binds(request, "pinned") and fails():
            return refusal(500, "InternalError", "not now")
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await _offer(cluster)
        await cluster.create(PODS, _pinned("pinned"))
        await cluster.until(lambda: is_bound(cluster, "pinned"))
        nulls = [b'"nodeAllocatableResourceClaimStatuses":null' in body for body in patches]
        assert nulls[:2] == [False, True]
        cluster_ = assembly.engine.cluster
        cpu = cluster_.nodes.resource_id("cpu")
        row = cluster_.nodes.row("node-0")
        counted = int(cluster_.usage.requested_of(cpu)[row])
        told = (await cluster.get(PODS, "pinned"))["status"]
        claimed = told.get("nodeAllocatableResourceClaimStatuses") or []
        assert counted == 100 + 3000 * len(claimed)

    in_live_cluster(scenario, nodes=1, between=moody(judge), gates=GATES)
