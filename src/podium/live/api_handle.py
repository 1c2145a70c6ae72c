"""The API handle of binding plugins, carried out on a real API server.

It is everything that plugins may ask for at once: `ApiHandle`, `ConcurrentApi` and `ExtenderApi`
of the framework.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any, TypeVar

from podium.client import Clock, KubeClient
from podium.client.extenders.client import ExtenderClient
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.live.object_access import ObjectAccess
from podium.live.pod_writes import PodWrites
from podium.live.write_metrics import WriteMetrics
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.asking import (
    BindAnswer,
    BindCall,
    CallFailed,
    NobodyToAsk,
    WrongAnswers,
)
from podium.scheduler.framework.status import Status

K = TypeVar("K", bound=KubeObject)
Tell = Callable[[PodInfo, str, str, str], None]


class LiveApi:
    def __init__(
        self,
        client: KubeClient,
        pods: PodWrites,
        tell: Tell,
        *,
        clock: Clock,
        randomness: Random,
        metrics: WriteMetrics,
        extenders: ExtenderClient | None = None,
    ) -> None:
        """`tell` records a Normal event: pod, reason, action, note."""
        self._pods = pods
        self._tell = tell
        self._clock = clock
        self._metrics = metrics
        self._extenders = extenders
        self._objects = ObjectAccess(client, clock=clock, randomness=randomness)
        self.get = self._objects.get
        self.update = self._objects.update
        self.patch = self._objects.patch
        self.delete = self._objects.delete

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        await self._pods.bind(pod, node_name)

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        if self._extenders is None:
            raise NobodyToAsk(f"{call.extender.url_prefix} has to bind, and nobody asks it to")
        (answer,) = await self._extenders.ask((call,))
        if not isinstance(answer, BindAnswer | CallFailed):
            raise WrongAnswers(f"a binding was answered with {type(answer).__name__}")
        return answer

    async def first_failure(
        self, work: Sequence[Coroutine[Any, Any, Status | None]]
    ) -> Status | None:
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            for done in asyncio.as_completed(tasks):
                failure = await done
                if failure is not None:
                    return failure
            return None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        if not isinstance(obj, ResourceClaim):
            return await self._objects.create(obj, generate_name=generate_name)
        ok = False
        try:
            stored = await self._objects.create(obj, generate_name=generate_name)
            ok = True
        finally:
            self._metrics.claim_created(ok=ok)
        return stored

    def take_turn(self, uid: str) -> AbstractAsyncContextManager[None]:
        return self._pods.turns.hold(uid)

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self._tell(pod, reason, action, note)

    async def pause(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
