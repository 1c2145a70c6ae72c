"""Whole clusters in virtual time with Podium's own scheduler in them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from support.live.scheduler_at_work import BEGIN_S, scheduling
from support.live.virtual_loop import run_virtually
from support.live.watched_metrics import LiveMetrics
from support.simulated.simulated_clusters import Cluster

from podium.client import KubeClient
from podium.client.resources import EVENTS, NODES, PODS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.names import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster

Scenario = Callable[[Cluster, Assembly], Awaitable[None]]


def in_live_cluster(
    scenario: Scenario,
    *,
    nodes: int = 3,
    cpu: str = "4",
    configuration: Configuration | None = None,
    between: Callable[[KubeClient], KubeClient] = lambda client: client,
    observers: Callable[[Engine], tuple[Observer, ...]] = lambda _: (),
    controllers: tuple[str, ...] = ALL,
    metrics: LiveMetrics | None = None,
    gates: FeatureGates | None = None,
) -> None:
    """Run a scenario in a fresh cluster; `between` may stand between scheduler and server."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        made = nodes_from([default_template(cpu=cpu)], nodes, ["a", "b"])
        options = SimulatedClusterOptions(nodes=tuple(made), controllers=controllers)
        async with embedded_cluster(
            options, wall=lambda: BEGIN_S + loop.time(), seed=1, gates=gates
        ) as embedded:
            cluster = Cluster(embedded.client)
            await cluster.until(lambda: _nodes_take_pods(cluster))
            async with scheduling(
                between(embedded.client), configuration, observers, metrics, gates=gates
            ) as assembly:
                await scenario(cluster, assembly)

    run_virtually(main())


async def _nodes_take_pods(cluster: Cluster) -> bool:
    return not any(each["spec"].get("taints") for each in await cluster.all(NODES))


def pod(name: str, cpu: str = "100m", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


async def is_bound(cluster: Cluster, name: str) -> bool:
    return bool((await cluster.get(PODS, name))["spec"].get("nodeName"))


async def is_running(cluster: Cluster, name: str) -> bool:
    return bool((await cluster.get(PODS, name))["status"]["phase"] == "Running")


async def condition_of(cluster: Cluster, name: str, kind: str) -> dict[str, Any] | None:
    conditions = (await cluster.get(PODS, name))["status"].get("conditions") or []
    return next((each for each in conditions if each["type"] == kind), None)


async def events_about(cluster: Cluster, name: str) -> list[tuple[str, str]]:
    """(reason, message) of the events of a pod, oldest first."""
    found = await cluster.all(EVENTS)
    about = [each for each in found if each["involvedObject"]["name"] == name]
    about.sort(key=lambda each: each.get("eventTime") or each.get("firstTimestamp") or "")
    return [(each["reason"], each["message"]) for each in about]
