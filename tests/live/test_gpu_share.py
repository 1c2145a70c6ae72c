"""GPUShare against an API server: decisions and locks are written, and taken back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from support.live.live_clusters import condition_of, is_bound
from support.live.scheduler_at_work import BEGIN_S, scheduling
from support.live.virtual_loop import run_virtually
from support.simulated.simulated_clusters import Cluster

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.client.resources import NODES, PODS
from podium.plugin import ApiHandle, Cycle, PreBindPlugin, PreFlight, Status, unschedulable
from podium.scheduler.config.load import load_configuration
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.names import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster

LOCK, DEVICES = "hami.io/mutex.lock", "hami.io/vgpu-devices-allocated"
RESOURCES = [f"nvidia.com/{name}" for name in ("gpu", "gpumem", "gpucores")]


class Refuses(PreBindPlugin):
    """Turns the unlucky one away after GPUShare has written."""

    name = "Refuses"

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        return PreFlight()

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        unlucky = cycle.pod.pod.metadata.name == "unlucky"
        return unschedulable("not today") if unlucky else None


def with_gpus(scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    """Run a scenario in a cluster of one node with one card, whose agent never unlocks it."""
    enabled = [{"name": "GPUShare"}, {"name": "Refuses"}]
    configuration = load_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "plugins": {"multiPoint": {"enabled": enabled}},
                    "pluginConfig": [
                        {"name": "GPUShare", "args": {"nodeLock": True}},
                        {"name": "NodeResourcesFit", "args": {"ignoredResources": RESOURCES}},
                    ],
                }
            ],
        }
    )

    async def main() -> None:
        loop = asyncio.get_running_loop()
        made = nodes_from([default_template(cpu="4")], 1, ["a"])
        options = SimulatedClusterOptions(nodes=tuple(made), controllers=ALL)

        def wall() -> float:
            return BEGIN_S + loop.time()

        async with embedded_cluster(options, wall=wall, seed=1) as embedded:
            cluster = Cluster(embedded.client)

            async def ready() -> bool:
                return not any(each["spec"].get("taints") for each in await cluster.all(NODES))

            await cluster.until(ready)
            (node,) = await cluster.all(NODES)
            cards = [Card(index=0, uuid="GPU-0", model="A100", memory=16384, slots=10)]
            written = find_dialect("hami").register(cards, wall())
            patch = {"metadata": {"annotations": dict(written.annotations)}}
            await cluster.client.patch(NODES, node["metadata"]["name"], patch)
            plugins = [GPUShare, Refuses]
            async with scheduling(embedded.client, configuration, plugins=plugins):
                await scenario(cluster)

    run_virtually(main())


def gpu_pod(name: str) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4000", "nvidia.com/gpucores": "20"}
    container = {"name": "c", "image": "a", "resources": {"limits": limits, "requests": limits}}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


async def annotation_of_node(cluster: Cluster, key: str) -> str:
    (node,) = await cluster.all(NODES)
    return str(node["metadata"].get("annotations", {}).get(key, ""))


def test_a_decision_is_written_before_the_pod_is_bound_and_the_node_is_locked() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(PODS, gpu_pod("p"))
        await cluster.until(lambda: is_bound(cluster, "p"))
        annotations = (await cluster.get(PODS, "p"))["metadata"]["annotations"]
        assert annotations[DEVICES] == "GPU-0,NVIDIA,4000,20:;"
        assert (await annotation_of_node(cluster, LOCK)).endswith(",default,p")

    with_gpus(scenario)


def test_a_decision_is_taken_back_and_the_node_unlocked_when_the_pod_is_not_bound() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(PODS, gpu_pod("unlucky"))

        async def refused() -> bool:
            told = await condition_of(cluster, "unlucky", "PodScheduled")
            return told is not None and "not today" in told["message"]

        await cluster.until(refused)

        async def cleared() -> bool:
            annotations = (await cluster.get(PODS, "unlucky"))["metadata"].get("annotations") or {}
            return DEVICES not in annotations and not await annotation_of_node(cluster, LOCK)

        await cluster.until(cleared)
        assert not await is_bound(cluster, "unlucky")

    with_gpus(scenario)
