"""Whole clusters in virtual time: server, simulated nodes and scheduler in one process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
from support.live.scheduler_at_work import BEGIN_S, scheduling
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.addons.gpu.agents.shapes import equip_nodes
from podium.client import KubeClient, PatchType, ResourceType, Selection
from podium.client.api_errors import NotFound
from podium.golang.json_values import JsonObject
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.names import ALL, DEFAULT_GPU_DIALECT
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster


class Cluster:
    """A cluster as a test uses it: objects are plain values, time passes when it is asked to."""

    def __init__(self, client: KubeClient) -> None:
        self.client = client

    async def create(self, resource: ResourceType, body: Any, namespace: str = "default") -> Any:
        where = namespace if resource.namespaced else ""
        return msgspec.json.decode(await self.client.create(resource, body, where))

    async def get(self, resource: ResourceType, name: str, namespace: str = "default") -> Any:
        where = namespace if resource.namespaced else ""
        return msgspec.json.decode(await self.client.get(resource, name, where))

    async def exists(self, resource: ResourceType, name: str, namespace: str = "default") -> bool:
        try:
            await self.get(resource, name, namespace)
        except NotFound:
            return False
        return True

    async def all(self, resource: ResourceType, labels: str = "") -> list[Any]:
        page = await self.client.list(resource, Selection(labels=labels))
        return [msgspec.json.decode(item) for item in page.items]

    async def patch(
        self, resource: ResourceType, name: str, body: Any, namespace: str = "default", **how: Any
    ) -> Any:
        where = namespace if resource.namespaced else ""
        how.setdefault("kind", PatchType.MERGE)
        return msgspec.json.decode(await self.client.patch(resource, name, body, where, **how))

    async def until(
        self, holds: Callable[[], Awaitable[bool]], *, within_s: float = 120.0
    ) -> float:
        """Let time pass until something holds; after how many seconds it did."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while not await holds():
            assert loop.time() - begun < within_s, "it did not come to that"
            await sleep_virtually(0.25)
        return loop.time() - begun


def in_cluster(
    scenario: Callable[[Cluster], Awaitable[None]],
    *,
    nodes: int = 3,
    controllers: tuple[str, ...] = ALL,
    speed: float = 1.0,
    gpus: Sequence[str] = (),
    gpu_dialect: str = DEFAULT_GPU_DIALECT,
) -> None:
    """Run a scenario in a fresh cluster."""
    made = nodes_from([default_template()], nodes, ["a", "b"])
    equipped = equip_nodes(made, gpus, gpu_dialect)

    async def main() -> None:
        async with _cluster(equipped, controllers, speed) as cluster:
            await scenario(cluster)

    run_virtually(main())


@contextlib.asynccontextmanager
async def _cluster(
    nodes: tuple[JsonObject, ...], controllers: tuple[str, ...], speed: float
) -> AsyncIterator[Cluster]:
    loop = asyncio.get_running_loop()
    options = SimulatedClusterOptions(nodes=nodes, controllers=controllers)
    async with (
        embedded_cluster(
            options, speed=speed, wall=lambda: BEGIN_S + loop.time(), seed=1
        ) as embedded,
        scheduling(embedded.client),
    ):
        yield Cluster(embedded.client)


def pod_spec(**more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "nginx"}], **more}


def template(app: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"labels": {"app": app}}
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": pod_spec(**spec)}


def workload(name: str, replicas: int | None = None, **spec: Any) -> dict[str, Any]:
    """A deployment, replica set, stateful set or daemon set that selects `app=NAME`."""
    written = {
        "selector": {"matchLabels": {"app": name}},
        "template": template(name),
        **({} if replicas is None else {"replicas": replicas}),
        **spec,
    }
    return {"metadata": {"name": name}, "spec": written}
