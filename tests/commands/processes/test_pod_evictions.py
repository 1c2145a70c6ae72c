"""Evictions one after the other, in a cluster with controllers; in virtual time."""

import asyncio
from typing import Any

import msgspec
import pytest
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster, in_cluster, workload

from podium.client import LoopClock
from podium.client.resources import POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS
from podium.commands.processes.pod_evictions import EvictionStopped, evict_in_turn
from podium.kubernetes.kinds.pod import Pod


async def running(cluster: Cluster) -> list[Pod]:
    await cluster.create(REPLICA_SETS, workload("web", 3))

    async def all_run() -> bool:
        pods = await cluster.all(PODS)
        return len(pods) == 3 and all(pod["status"]["phase"] == "Running" for pod in pods)

    await cluster.until(all_run)
    return [msgspec.convert(pod, Pod) for pod in await cluster.all(PODS)]


def is_ready(pod: Any) -> bool:
    return pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


def test_each_pod_is_gone_and_replaced_before_the_next_one_leaves() -> None:
    async def scenario(cluster: Cluster) -> None:
        pods = await running(cluster)
        told: list[str] = []
        fewest = 3

        async def look() -> None:
            nonlocal fewest
            while True:
                found: list[Any] = await cluster.all(PODS)
                ready = [pod for pod in found if is_ready(pod)]
                fewest = min(fewest, len(ready))
                await sleep_virtually(0.5)

        looking = asyncio.ensure_future(look())
        await evict_in_turn(cluster.client, pods[:2], 30.0, LoopClock(), told.append)
        looking.cancel()
        assert told == [f"default/{pod.name} evicted" for pod in pods[:2]]
        assert fewest == 2
        left = {pod["metadata"]["name"] for pod in await cluster.all(PODS)}
        assert not left & {pod.name for pod in pods[:2]}
        assert pods[2].name in left

    in_cluster(scenario)


def test_a_budget_stops_the_evictions_and_the_rest_is_left_alone() -> None:
    async def scenario(cluster: Cluster) -> None:
        pods = await running(cluster)
        spec = {"minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}}
        await cluster.create(POD_DISRUPTION_BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
        await sleep_virtually(5)
        told: list[str] = []
        with pytest.raises(EvictionStopped, match=f"default/{pods[0].name} is not evicted: "):
            await evict_in_turn(cluster.client, pods, 1.0, LoopClock(), told.append)
        assert told == []
        assert len(await cluster.all(PODS)) == 3

    in_cluster(scenario)


def test_a_pod_that_is_gone_or_is_another_one_by_now_is_no_obstacle() -> None:
    async def scenario(cluster: Cluster) -> None:
        pods = await running(cluster)
        gone = msgspec.structs.replace(
            pods[0], metadata=msgspec.structs.replace(pods[0].metadata, name="gone")
        )
        told: list[str] = []
        await evict_in_turn(cluster.client, [gone, pods[1]], 1.0, LoopClock(), told.append)
        assert told == ["default/gone is gone already", f"default/{pods[1].name} evicted"]

    in_cluster(scenario)
