"""The GPU extender at work in a cluster without sockets and in virtual time."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any, NamedTuple

from support.live.virtual_loop import run_virtually

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import Dialect, PodWrite
from podium.addons.gpu.extender.application import GPUExtenderApplication, GPUExtenderOptions
from podium.client import AsgiTransport, KubeClient, PatchType
from podium.client.api_errors import NotFound
from podium.client.resources import NAMESPACES, NODES, PODS
from podium.client.transport import Request, Unreachable
from podium.simulated.cluster import SimulatedClusterOptions
from podium.testing.embedded import embedded_cluster

BEGIN_S = 1_800_000_000.0

Between = Callable[[KubeClient], KubeClient]


class Answer(NamedTuple):
    code: int
    headers: Mapping[str, str]
    body: bytes

    def decoded(self) -> Any:
        return json.loads(self.body)


class RunningExtender:
    def __init__(self, application: GPUExtenderApplication, running: asyncio.Task[None]) -> None:
        self.application = application
        self.view = application.view
        self.ledger = application.view.ledger
        self._running = running
        self._transport = AsgiTransport(application.service)

    async def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        if self._running.cancelling() or self._running.done():
            raise Unreachable("connection refused", refused=True)
        reply = await self._transport.send(Request(method, path, body=body), timeout_s=120.0)
        return Answer(reply.status, reply.headers, reply.body)

    async def get(self, path: str) -> Answer:
        return await self.send("GET", path)

    async def ask(self, verb: str, body: Any) -> Any:
        answer = await self.send("POST", f"/scheduler/{verb}", json.dumps(body).encode())
        assert answer.code == 200, answer
        return answer.decoded()

    async def filter(self, pod: Any, *names: str) -> Any:
        return await self.ask("filter", {"Pod": pod, "Nodes": None, "NodeNames": list(names)})

    async def bind(self, pod: Any, node: str) -> str:
        """The error, empty if there is none."""
        metadata = pod["metadata"]
        body = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
            "Node": node,
        }
        error: str = (await self.ask("bind", body))["Error"]
        return error

    async def stop(self) -> None:
        """End it as a killed process ends: nothing is tidied up."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


class GPUCluster:
    def __init__(self, client: KubeClient, dialect: Dialect) -> None:
        self.client = client
        self.dialect = dialect
        self._extenders: list[RunningExtender] = []

    def now(self) -> float:
        return BEGIN_S + asyncio.get_running_loop().time()

    async def start(
        self, between: Between = lambda client: client, *, synced: bool = True, **options: Any
    ) -> RunningExtender:
        """An extender of this cluster; `between` may stand between it and the server."""
        application = GPUExtenderApplication(
            between(self.client),
            GPUExtenderOptions(dialect=self.dialect, **options),
            wall=self.now,
            randomness=Random(1),
        )
        extender = RunningExtender(application, asyncio.create_task(application.run()))
        self._extenders.append(extender)
        if synced:
            await application.watch.synced.wait()
        return extender

    async def stop(self) -> None:
        for extender in self._extenders:
            await extender.stop()

    async def add_node(self, name: str, cards: Sequence[Card], **labels: str) -> None:
        write = self.dialect.register(cards, self.now())
        metadata = {
            "name": name,
            "annotations": {k: v for k, v in write.annotations.items() if v is not None},
            "labels": {k: v for k, v in write.labels.items() if v is not None} | labels,
        }
        capacity = {"cpu": "64", "pods": "110", **write.capacity}
        status = {"capacity": capacity, "allocatable": capacity}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
        await self.client.create(NODES, node)

    async def add_pod(self, name: str, *limits: Mapping[str, Any], **more: Any) -> Any:
        """A pod of containers by their limits, as the server has it then."""
        pod = pod_manifest(name, *limits, **more)
        return json.loads(await self.client.create(PODS, pod, "default"))

    async def pod(self, name: str) -> Any:
        """None if it is gone."""
        try:
            return json.loads(await self.client.get(PODS, name, "default"))
        except NotFound:
            return None

    async def node(self, name: str) -> Any:
        return json.loads(await self.client.get(NODES, name))

    async def write(self, name: str, write: PodWrite) -> None:
        metadata = {"annotations": dict(write.annotations), "labels": dict(write.labels)}
        await self.client.patch(PODS, name, {"metadata": metadata}, "default")

    async def bind_plainly(self, pod: Any, node: str) -> None:
        """What a scheduler does that binds itself."""
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata}
        body = {**binding, "target": {"kind": "Node", "name": node}}
        name = metadata["name"]
        await self.client.create(PODS, body, "default", name=name, subresource="binding")

    async def set_phase(self, name: str, phase: str) -> None:
        body = {"status": {"phase": phase}}
        await self.client.patch(
            PODS, name, body, "default", kind=PatchType.MERGE, subresource="status"
        )


def pod_manifest(name: str, *limits: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    spec = more.pop("spec", {})
    containers = [
        {
            "name": f"c{at}",
            "image": "i",
            "resources": {"limits": {key: str(value) for key, value in each.items()}},
        }
        for at, each in enumerate(limits)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", **more},
        "spec": {"containers": containers, **spec},
    }


def equal_cards(count: int, memory: int, **more: Any) -> tuple[Card, ...]:
    return tuple(
        Card(at, uuid=f"GPU-{at}", memory=memory, **({"slots": 10} | more)) for at in range(count)
    )


@asynccontextmanager
async def gpu_cluster(dialect: str) -> AsyncIterator[GPUCluster]:
    loop = asyncio.get_running_loop()
    options = SimulatedClusterOptions(nodes=(), controllers=())
    async with embedded_cluster(options, wall=lambda: BEGIN_S + loop.time(), seed=1) as embedded:
        cluster = GPUCluster(embedded.client, find_dialect(dialect))
        for name in ("default", "kube-system"):
            try:
                await embedded.client.get(NAMESPACES, name)
            except NotFound:
                namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                await embedded.client.create(NAMESPACES, namespace)
        try:
            yield cluster
        finally:
            await cluster.stop()


def in_gpu_cluster(
    scenario: Callable[[GPUCluster], Awaitable[None]], dialect: str = "gpu-manager"
) -> None:
    async def main() -> None:
        async with gpu_cluster(dialect) as cluster:
            await scenario(cluster)

    run_virtually(main())
