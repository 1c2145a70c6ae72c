"""The least that can be called a scheduler: places pods on nodes in turn.

It looks at taints and at the node that a daemon's pod is pinned to, and sends claims of classes
that wait to the node. Enough to bring a simulated cluster to life in tests; nothing is weighed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from itertools import count
from random import Random

from podium.api.tolerations import untolerated
from podium.client import KubeClient, LoopClock, Reflector
from podium.client.api_errors import ApiError
from podium.client.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PODS
from podium.population.objects.nodes import Node
from podium.population.objects.pods import Pod
from podium.population.objects.storage import SELECTED_NODE
from podium.population.world import World


@contextlib.asynccontextmanager
async def small_scheduler(client: KubeClient) -> AsyncIterator[None]:
    scheduler = _Scheduler(client)
    running = asyncio.ensure_future(scheduler.run())
    try:
        yield
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


class _Scheduler:
    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._world = World()
        self._turn = count()
        self._changed = asyncio.Event()
        for store in (self._world.pods, self._world.nodes, self._world.claims):
            store.listen(lambda _, __: self._changed.set())

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for store in list(self._world.stores.values()):
                reflector = Reflector(
                    self._client,
                    store.resource,
                    store.decode,
                    store,
                    clock=LoopClock(),
                    randomness=Random(1),
                )
                group.create_task(reflector.run())
            while True:
                await self._changed.wait()
                self._changed.clear()
                for pod in self._world.pods.all():
                    if not pod.spec.node_name and pod.is_active:
                        await self._place(pod)

    async def _place(self, pod: Pod) -> None:
        fitting = [node for node in self._world.nodes.all() if _fits(pod, node)]
        if not fitting or not await self._claims_are_settled(pod, fitting[0]):
            return
        node = fitting[next(self._turn) % len(fitting)]
        target = {"target": {"kind": NODES.kind, "name": node.name}}
        body = {"metadata": {"name": pod.name, "uid": pod.metadata.uid}, **target}
        with contextlib.suppress(ApiError):
            await self._client.create(
                PODS, body, pod.namespace, name=pod.name, subresource="binding"
            )

    async def _claims_are_settled(self, pod: Pod, node: Node) -> bool:
        for name in pod.claim_names:
            claim = self._world.claims.get(pod.namespace, name)
            if claim is None:
                return False
            if claim.status.phase != "Bound":
                if not claim.metadata.annotation(SELECTED_NODE):
                    chosen = {"metadata": {"annotations": {SELECTED_NODE: node.name}}}
                    await self._client.patch(PERSISTENT_VOLUME_CLAIMS, name, chosen, pod.namespace)
                return False
        return True


def _fits(pod: Pod, node: Node) -> bool:
    if pod.target_node not in ("", node.name):
        return False
    return untolerated(node.spec.taints, pod.spec.tolerations) is None
