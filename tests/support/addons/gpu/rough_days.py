"""Everything that can go wrong between schedulers, the GPU extender, the server and agents."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

from support.addons.gpu.card_judge import CardJudge
from support.addons.gpu.extender_clusters import GPUCluster, RunningExtender
from support.live.moody_transport import refusal
from support.live.virtual_loop import sleep_virtually

from podium.client import DeleteOptions, KubeClient, RequestFailed, Transport, Unreachable
from podium.client.extenders.extender import ExtenderError
from podium.client.resources import NODES, PODS
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.kinds.pod import Pod

FAILURES: Final = (
    "a binding failed",
    "an answer was lost",
    "the extender was killed",
    "a watch was cut",
    "a pod was deleted meanwhile",
    "an agent refused",
)
"""All that has to have gone wrong on a rough day."""
Pause = Callable[[float], Awaitable[None]]

MAX_UNCUT: Final = 30
"""Pieces of watches between two cuts: a busy machine sends few large ones."""


class RoughTransport:
    """Refuses, loses requests before the server has them and answers after, cuts watches."""

    def __init__(
        self, transport: Transport, chances: Random, pause: Pause = sleep_virtually
    ) -> None:
        """`pause` makes the delays. `met` counts what went wrong, by its name."""
        self._transport = transport
        self._chances = chances
        self._pause = pause
        self.is_rough = True
        self.met: Counter[str] = Counter()
        self._uncut = 0

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        roll = self._chances.random() if self.is_rough else 1.0
        await self._pause(self._chances.random() * 0.2)
        if roll < 0.12 and request.path.endswith("/binding"):
            self.met["a binding failed"] += 1
        if roll < 0.04:
            raise Unreachable("lost on the way there")
        if roll < 0.08:
            return refusal(500, "InternalError", "stumbled")
        if roll < 0.10:
            return refusal(409, "Conflict", "somebody else was faster")
        if roll < 0.12:
            return refusal(403, "Forbidden", "not today")
        reply = await self._transport.send(request, timeout_s=timeout_s)
        await self._pause(self._chances.random() * 0.2)
        if 0.12 <= roll < 0.20:
            self.met["an answer was lost"] += 1
            raise Unreachable("lost on the way back")
        return reply

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        async with self._transport.stream(request, timeout_s=timeout_s) as stream:
            yield Stream(stream.status, stream.headers, self._cut(stream.pieces))

    async def _cut(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in pieces:
            if self.is_rough:
                await self._pause(self._chances.choice((0.0, 0.0, 0.1, 2.0)))
                self._uncut += 1
                if self._chances.random() < 0.02 or self._uncut == MAX_UNCUT:
                    self._uncut = 0
                    self.met["a watch was cut"] += 1
                    raise Unreachable("the watch was cut")
            yield piece

    async def close(self) -> None:
        await self._transport.close()


class RoughDay:
    """Clients that schedule pods through an extender which is killed now and then, and agents."""

    def __init__(
        self,
        cluster: GPUCluster,
        judge: CardJudge,
        seed: int,
        *,
        decides_in_filter: bool = False,
        pause: Pause = sleep_virtually,
    ) -> None:
        """`decides_in_filter`: the older wiring, in which schedulers bind themselves. Clients and
        transports wait with `pause`."""
        self._decides_in_filter = decides_in_filter
        self._pause = pause
        self.cluster = cluster
        self.judge = judge
        self.bound: set[str] = set()
        self.restarts = 0
        self._chances = Random(seed)
        self._is_calm = False
        self._met: Counter[str] = Counter()
        self._transports: list[RoughTransport] = []
        self._calls: set[asyncio.Task[Any]] = set()
        self.extender: RunningExtender

    def between(self, client: KubeClient) -> KubeClient:
        return KubeClient(self.rough(client.transport), timeout_s=10.0)

    def rough(self, transport: Transport) -> RoughTransport:
        rough = RoughTransport(transport, Random(self._chances.random()), self._pause)
        rough.is_rough = not self._is_calm
        self._transports.append(rough)
        return rough

    @property
    def met(self) -> Counter[str]:
        """What went wrong, by its name."""
        return sum((each.met for each in self._transports), self._met)

    def calm_down(self) -> None:
        self._is_calm = True
        for transport in self._transports:
            transport.is_rough = False

    async def start(self) -> None:
        self.extender = await self.cluster.start(self.between)

    async def kill_now_and_then(self) -> None:
        while not self._is_calm:
            await self._pause(10.0 + self._chances.random() * 20.0)
            await self.kill()

    async def kill(self) -> None:
        """What is on its way to the server may still arrive; nobody waits for the answer."""
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self.extender.stop()
        self.count_kill()
        await self._pause(1.0)
        await self.start()

    def count_kill(self) -> None:
        self.restarts += 1
        self._met["the extender was killed"] += 1

    async def call(self, what: Any) -> Any:
        """A call of the extender, which may be killed meanwhile; None if it was, or if its answer
        was lost."""
        task = asyncio.ensure_future(what)
        self._calls.add(task)
        try:
            await asyncio.wait((task,))
            if task.cancelled() or task.exception() is not None:
                return None
            return None if self._chances.random() < 0.05 else task.result()
        finally:
            self._calls.discard(task)

    async def schedule(self, name: str, limits: list[dict[str, int]], nodes: list[str]) -> None:
        """One pod, until it is bound, deleted, or has no place for long."""
        with contextlib.suppress(RequestFailed):
            pod = await self.cluster.add_pod(name, *limits)
            for _ in range(12):
                if self._chances.random() < 0.03:
                    await self._delete(name)
                    return
                fresh = await self.cluster.pod(name)
                if fresh is None:
                    return
                if fresh["spec"].get("nodeName"):
                    self.bound.add(name)
                    return
                await self._attempt(pod, fresh, nodes)
                await self._pause(0.5 + self._chances.random() * 5.0)

    async def _attempt(self, pod: Any, fresh: Any, nodes: list[str]) -> None:
        if self._decides_in_filter:
            await self._attempt_in_filter(pod, fresh, nodes)
            return
        answer = await self.call(self.extender.filter(fresh, *nodes))
        if not answer or answer["Error"] or not answer["NodeNames"]:
            return
        chosen = self._chances.choice(answer["NodeNames"])
        if self._chances.random() < 0.05:
            await self._delete(pod["metadata"]["name"])
            self._met["a pod was deleted meanwhile"] += 1
        await self.call(self.extender.bind(pod, chosen))

    async def _attempt_in_filter(self, pod: Any, fresh: Any, nodes: list[str]) -> None:
        objects = {"items": [{"metadata": {"name": name}} for name in nodes]}
        body = {"Pod": fresh, "Nodes": objects, "NodeNames": None}
        answer = await self.call(self.extender.ask("predicates", body))
        if not answer or answer["Error"] or not answer["Nodes"]["items"]:
            return
        if self._chances.random() < 0.2:
            return  # another plugin refuses the pod, or its binding fails
        (chosen,) = answer["Nodes"]["items"]
        await self._pause(self._chances.random() * 3.0)
        await self.cluster.bind_plainly(pod, chosen["metadata"]["name"])

    async def work_as_agents(self) -> None:
        """Serve what is bound: most of it well, some of it refused; some pods end soon."""
        served: set[str] = set()
        while True:
            await self._pause(0.5)
            for pod in list(self.judge.pods.values()):
                uid = pod.metadata.uid
                if pod.spec.node_name and uid not in served:
                    served.add(uid)
                    with contextlib.suppress(RequestFailed):
                        await self._serve(pod)

    async def _serve(self, pod: Pod) -> None:
        dialect, name = self.cluster.dialect, pod.name
        roll = self._chances.random()
        write = dialect.refuse(pod) if roll < 0.15 else dialect.confirm(pod)
        self._met["an agent refused"] += roll < 0.15
        await self.cluster.write(name, write)
        await self._unlock(pod)
        await self.cluster.set_phase(name, "Failed" if roll < 0.15 else "Running")
        if roll > 0.7:
            await self._delete(name)

    async def _unlock(self, pod: Pod) -> None:
        rule = self.cluster.dialect.lock
        if rule is not None:
            patch = {"metadata": {"annotations": {rule.key: None}}}
            await self.cluster.client.patch(NODES, pod.spec.node_name, patch)

    async def _delete(self, name: str) -> None:
        with contextlib.suppress(RequestFailed, ExtenderError):
            options = DeleteOptions(grace_period_s=0)
            await self.cluster.client.delete(PODS, name, "default", options)
