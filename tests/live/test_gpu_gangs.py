"""Gangs on nodes that one pod at a time may be bound to: agents, locks and both plugins at work in
virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.addons.gpu.gpu_cluster import NOT_ON_NODES
from support.addons.gpu.gpu_placement import SHARES
from support.live.scheduler_at_work import BEGIN_S, scheduling
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.simulated.simulated_clusters import Cluster

from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.addons.gpu.agents.shapes import equip_nodes
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.client.resources import EVENTS, NODES, PODS
from podium.kubernetes.kinds.scheduler_plugins import MIN_AVAILABLE_LABEL, NAME_LABEL
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.controller_registry import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster

LOCKING = pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami"])


def configuration(dialect: str) -> Any:
    enabled = [{"name": "Coscheduling"}, {"name": "GPUShare", "weight": 10}]
    plugins = {
        "multiPoint": {"enabled": enabled},
        "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
    }
    args = [
        {"name": "GPUShare", "args": {"dialect": dialect, "nodeLock": True}},
        {"name": "NodeResourcesFit", "args": {"ignoredResources": list(NOT_ON_NODES)}},
    ]
    profile = {"schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": args}
    return load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}, gates=FeatureGates()
    )


def with_gangs_on_gpus(
    scenario: Callable[[Cluster], Awaitable[None]], dialect: str, *, nodes: int, gpus: str
) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        made = nodes_from([default_template()], nodes, ["a"])
        equipped = equip_nodes(made, [gpus], dialect)
        options = SimulatedClusterOptions(nodes=equipped, controllers=ALL)
        wall = lambda: BEGIN_S + loop.time()  # noqa: E731
        async with embedded_cluster(options, wall=wall, seed=1) as embedded:
            cluster = Cluster(embedded.client)

            async def ready() -> bool:
                return not any(each["spec"].get("taints") for each in await cluster.all(NODES))

            await cluster.until(ready)
            plugins = [Coscheduling, GPUShare]
            async with scheduling(embedded.client, configuration(dialect), plugins=plugins):
                await scenario(cluster)

    run_virtually(main())


async def add_gang(cluster: Cluster, name: str, size: int, share: dict[str, str]) -> None:
    labels = {NAME_LABEL: name, MIN_AVAILABLE_LABEL: str(size)}
    container = {"name": "c", "image": "i", "resources": {"limits": share, "requests": share}}
    for at in range(size):
        metadata = {"name": f"{name}-{at}", "labels": labels}
        await cluster.create(PODS, {"metadata": metadata, "spec": {"containers": [container]}})


async def phases(cluster: Cluster, gang: str) -> list[str]:
    pods = await cluster.all(PODS, labels=f"{NAME_LABEL}={gang}")
    return [each["status"].get("phase", "") for each in pods]


async def assert_unlocked(cluster: Cluster, dialect: str) -> None:
    lock = find_dialect(dialect).lock
    assert lock is not None
    for node in await cluster.all(NODES):
        assert lock.key not in node["metadata"]["annotations"]


@LOCKING
def test_all_members_of_a_gang_come_onto_one_node_one_after_the_other(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        await add_gang(cluster, "g", 6, SHARES[dialect])

        async def running() -> bool:
            return await phases(cluster, "g") == ["Running"] * 6

        await cluster.until(running, within_s=60)
        told = [each["reason"] for each in await cluster.all(EVENTS)]
        assert told == ["Scheduled"] * 6, "nobody gave up"
        await assert_unlocked(cluster, dialect)

    with_gangs_on_gpus(scenario, dialect, nodes=1, gpus="4xT4")


@LOCKING
def test_of_two_gangs_with_room_for_one_all_of_one_run_and_none_of_the_other(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        share = {**SHARES[dialect]}
        cores = "nvidia.com/gpucores" if dialect == "hami" else "nvidia.com/vcuda-core"
        share[cores] = "60"  # one on each card
        await asyncio.gather(*(add_gang(cluster, gang, 3, share) for gang in "ab"))

        async def one_runs() -> bool:
            return ["Running"] * 3 in [await phases(cluster, gang) for gang in "ab"]

        await cluster.until(one_runs, within_s=300)
        await sleep_virtually(60)
        assert sorted([await phases(cluster, gang) for gang in "ab"]) == [
            ["Pending"] * 3,
            ["Running"] * 3,
        ]
        bound = [each for each in await cluster.all(PODS) if each["spec"].get("nodeName")]
        assert len(bound) == 3
        for pod in bound:
            await cluster.client.delete(PODS, pod["metadata"]["name"], "default")
        await cluster.until(one_runs, within_s=300)
        await assert_unlocked(cluster, dialect)

    with_gangs_on_gpus(scenario, dialect, nodes=1, gpus="4xT4")
