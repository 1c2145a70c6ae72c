"""Devices in a living cluster: claims are allocated, reserved and given back."""

from functools import partial
from typing import Any

from support.live.live_clusters import condition_of, in_live_cluster, is_bound, is_running, pod
from support.live.moody_transport import moody
from support.simulated.simulated_clusters import Cluster

from podium.client import DeleteOptions
from podium.client.resources import (
    DEVICE_CLASSES,
    EVENTS_K8S_IO,
    PODS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from podium.live.assembly import Assembly

DRIVER = "gpu.example.com"
REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}


async def _offer(cluster: Cluster, node: str, count: int, **class_spec: Any) -> None:
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    await cluster.create(
        DEVICE_CLASSES,
        {"metadata": {"name": "gpu"}, "spec": {"selectors": [selector], **class_spec}},
    )
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    await cluster.create(RESOURCE_SLICES, {"metadata": {"name": f"{node}-gpus"}, "spec": spec})


def test_claims_from_a_template_lead_pods_to_devices_one_each() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await _offer(cluster, "node-1", 2)
        spec = {"spec": {"devices": {"requests": [REQUEST]}}}
        await cluster.create(
            RESOURCE_CLAIM_TEMPLATES, {"metadata": {"name": "one-gpu"}, "spec": spec}
        )
        claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
        for number in range(3):
            await cluster.create(PODS, pod(f"train-{number}", resourceClaims=claims))

        async def two_run() -> bool:
            phases = [each["status"]["phase"] for each in await cluster.all(PODS)]
            return phases.count("Running") == 2

        await cluster.until(two_run)
        allocated = [
            each["status"]["allocation"]["devices"]["results"][0]["device"]
            for each in await cluster.all(RESOURCE_CLAIMS)
            if each.get("status", {}).get("allocation")
        ]
        assert sorted(allocated) == ["gpu-0", "gpu-1"]
        running = [each for each in await cluster.all(PODS) if each["spec"].get("nodeName")]
        assert {each["spec"]["nodeName"] for each in running} == {"node-1"}
        (waiting,) = [e for e in await cluster.all(PODS) if not e["spec"].get("nodeName")]
        name = waiting["metadata"]["name"]
        condition = await condition_of(cluster, name, "PodScheduled")
        assert condition is not None
        assert "cannot allocate all claims" in condition["message"]

        gone = running[0]["metadata"]["name"]
        await cluster.client.delete(PODS, gone, "default", DeleteOptions(grace_period_s=0))
        await cluster.until(lambda: is_running(cluster, name))

    in_live_cluster(scenario, nodes=2)


def test_a_claim_of_ones_own_is_shared_and_reserved_for_every_user() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await _offer(cluster, "node-0", 1)
        spec = {"devices": {"requests": [REQUEST]}}
        await cluster.create(RESOURCE_CLAIMS, {"metadata": {"name": "shared"}, "spec": spec})
        claims = [{"name": "gpu", "resourceClaimName": "shared"}]
        for name in ("a", "b"):
            await cluster.create(PODS, pod(name, resourceClaims=claims))
            await cluster.until(partial(is_bound, cluster, name))
        claim = await cluster.get(RESOURCE_CLAIMS, "shared")
        assert {each["name"] for each in claim["status"]["reservedFor"]} == {"a", "b"}
        assert "resource.kubernetes.io/delete-protection" in claim["metadata"]["finalizers"]
        results = claim["status"]["allocation"]["devices"]["results"]
        assert [each["device"] for each in results] == ["gpu-0"]

    in_live_cluster(scenario, nodes=2)


def test_many_pods_that_share_a_claim_take_turns_in_writing_to_it() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await _offer(cluster, "node-0", 1)
        claims = [{"name": "gpu", "resourceClaimName": "shared"}]
        for number in range(100):
            await cluster.create(PODS, pod(f"user-{number}", "10m", resourceClaims=claims))
        spec = {"devices": {"requests": [REQUEST]}}
        await cluster.create(RESOURCE_CLAIMS, {"metadata": {"name": "shared"}, "spec": spec})

        async def all_bound() -> bool:
            return all(each["spec"].get("nodeName") for each in await cluster.all(PODS))

        assert await cluster.until(all_bound) < 5
        claim = await cluster.get(RESOURCE_CLAIMS, "shared")
        assert len(claim["status"]["reservedFor"]) == 100
        told = [each["note"] for each in await cluster.all(EVENTS_K8S_IO)]
        assert not [note for note in told if "object has been modified" in note]

    in_live_cluster(scenario, nodes=2, between=moody(lambda _: 0.005))


def test_a_pod_that_asks_for_an_extended_resource_gets_a_claim_for_it() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await _offer(cluster, "node-0", 1, extendedResourceName="example.com/gpu")
        wants = pod("train")
        amounts = {"example.com/gpu": "1", "cpu": "100m"}
        wants["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        await cluster.create(PODS, wants)
        await cluster.until(lambda: is_bound(cluster, "train"))
        found = await cluster.get(PODS, "train")
        told = found["status"]["extendedResourceClaimStatus"]
        claim = await cluster.get(RESOURCE_CLAIMS, told["resourceClaimName"])
        assert told["resourceClaimName"].startswith("train-extended-resources-")
        assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"

    in_live_cluster(scenario, nodes=2)
