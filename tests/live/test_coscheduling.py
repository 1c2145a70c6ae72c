"""Gangs in a cluster with nodes, controllers and the CRD, or without it, in virtual time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.live.live_clusters import condition_of, is_bound, is_running, pod
from support.live.scheduler_at_work import BEGIN_S, scheduling
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.simulated.simulated_clusters import Cluster

from podium.addons.collection.coscheduling.gangs import pod_group_definition
from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.client import ResourceType
from podium.client.resources import COSCHEDULING_POD_GROUPS, NODES, PODS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly
from podium.scheduler.config.load import load_file
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.controller_registry import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster

CONFIGURATION = Path(__file__).parents[2] / "examples" / "coscheduling" / "scheduler.yaml"
DEFINITIONS = ResourceType(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)
Scenario = Callable[[Cluster, Assembly], Awaitable[None]]


def with_gangs(scenario: Scenario, *, nodes: int = 2, defined: bool = True) -> None:
    """Run a scenario in a cluster of nodes with four cpus, for a scheduler with Coscheduling."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        made = nodes_from([default_template(cpu="4")], nodes, ["a"])
        options = SimulatedClusterOptions(nodes=tuple(made), controllers=ALL)
        wall = lambda: BEGIN_S + loop.time()  # noqa: E731
        async with embedded_cluster(options, wall=wall, seed=1) as embedded:
            cluster = Cluster(embedded.client)
            if defined:
                await cluster.create(DEFINITIONS, pod_group_definition())

            async def ready() -> bool:
                return not any(each["spec"].get("taints") for each in await cluster.all(NODES))

            await cluster.until(ready)
            configuration = load_file(
                CONFIGURATION.read_bytes(), source="scheduler.yaml", gates=FeatureGates()
            )
            async with scheduling(
                embedded.client, configuration, plugins=[Coscheduling]
            ) as assembly:
                await scenario(cluster, assembly)

    run_virtually(main())


def group(name: str, least: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": least},
    }


def member(name: str, of: str, cpu: str = "2") -> dict[str, Any]:
    made = pod(name, cpu)
    made["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": of}
    return made


async def make_gang(cluster: Cluster, name: str, size: int) -> None:
    await cluster.create(COSCHEDULING_POD_GROUPS, group(name, size))
    for number in range(size):
        await cluster.create(PODS, member(f"{name}-{number}", name))


def all_running(cluster: Cluster, name: str, size: int) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return all([await is_running(cluster, f"{name}-{number}") for number in range(size)])

    return holds


def test_one_of_two_gangs_runs_and_the_other_follows_when_there_is_room() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await make_gang(cluster, "a", 3)
        await cluster.until(all_running(cluster, "a", 3))
        await make_gang(cluster, "b", 3)

        async def told() -> bool:
            return await condition_of(cluster, "b-2", "PodScheduled") is not None

        await cluster.until(told)
        await sleep_virtually(90)
        assert not any([await is_bound(cluster, f"b-{number}") for number in range(3)])
        for number in range(3):
            status = (await cluster.get(PODS, f"b-{number}"))["status"]
            assert "nominatedNodeName" not in status, "a gang that waits holds nothing"
        for number in range(3):
            await cluster.client.delete(PODS, f"a-{number}", "default")
        await cluster.until(all_running(cluster, "b", 3))

    with_gangs(scenario)


def test_a_group_is_walked_through_its_phases() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        async def status() -> dict[str, Any]:
            found: dict[str, Any] = await cluster.get(COSCHEDULING_POD_GROUPS, "g")
            return dict(found.get("status") or {})

        def reaches(phase: str) -> Callable[[], Awaitable[bool]]:
            async def holds() -> bool:
                return bool((await status()).get("phase") == phase)

            return holds

        await cluster.create(COSCHEDULING_POD_GROUPS, group("g", 2))
        await cluster.until(reaches("Pending"))
        await cluster.create(PODS, member("g-0", "g"))
        await cluster.create(PODS, member("g-1", "g"))
        await cluster.until(reaches("Running"))
        assert (await status())["running"] == 2
        ended = {"status": {"phase": "Succeeded"}}
        for number in range(2):
            await cluster.patch(PODS, f"g-{number}", ended, subresource="status")
        await cluster.until(reaches("Finished"))
        assert (await status())["succeeded"] == 2

    with_gangs(scenario)


def test_without_the_definition_other_pods_are_scheduled_and_the_log_says_what_is_missing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(PODS, pod("alone"))

        async def bound() -> bool:
            return await is_bound(cluster, "alone")

        await cluster.until(bound)
        await cluster.create(PODS, member("g-0", "g"))

        async def told() -> bool:
            return await condition_of(cluster, "g-0", "PodScheduled") is not None

        await cluster.until(told)
        condition = await condition_of(cluster, "g-0", "PodScheduled")
        assert condition is not None
        assert "PodGroup not found" in condition["message"]
        await cluster.create(DEFINITIONS, pod_group_definition())
        await cluster.create(COSCHEDULING_POD_GROUPS, group("g", 1))
        await cluster.until(all_running(cluster, "g", 1))

        async def counted() -> bool:
            found = await cluster.get(COSCHEDULING_POD_GROUPS, "g")
            return bool((found.get("status") or {}).get("running") == 1)

        await cluster.until(counted)

    with caplog.at_level(logging.WARNING, "podium.live"):
        with_gangs(scenario, defined=False)
    (said,) = [line for line in caplog.messages if "are not served" in line]
    assert said == (
        "podgroups (scheduling.x-k8s.io/v1alpha1) are not served and left out; Coscheduling reads"
        " them: install their CustomResourceDefinition, which is noticed without a restart"
    )


OLDER = "scheduling.sigs.k8s.io"
OLDER_POD_GROUPS = ResourceType(OLDER, "v1alpha1", "podgroups", "PodGroup")


def older_definition() -> dict[str, Any]:
    made = pod_group_definition()
    made["metadata"]["name"] = f"podgroups.{OLDER}"
    made["spec"]["group"] = OLDER
    return made


def test_the_older_definition_is_noticed_when_it_comes_later() -> None:
    async def scenario(cluster: Cluster, _: Assembly) -> None:
        waiting = member("g-0", "g")
        waiting["metadata"]["labels"] = {f"pod-group.{OLDER}": "g"}
        await cluster.create(PODS, waiting)
        await sleep_virtually(60)
        assert not await is_bound(cluster, "g-0")
        await cluster.create(DEFINITIONS, older_definition())
        made = {**group("g", 1), "apiVersion": f"{OLDER}/v1alpha1"}
        await cluster.create(OLDER_POD_GROUPS, made)
        assert await cluster.until(all_running(cluster, "g", 1)) < 30

    with_gangs(scenario)
