"""The API handle of binding plugins, carried out on a real API server.

It is everything that plugins may ask for at once: `ApiHandle`, `ConcurrentApi` and `ExtenderApi`
of the framework, and what the plugins for volumes and devices need beyond that.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from podium.kubernetes.kinds.pod import NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus
from podium.client import Clock, KubeClient
from podium.cluster.pod_info import PodInfo
from podium.extenders.client import ExtenderClient
from podium.framework.asking import NobodyToAsk, WrongAnswers
from podium.framework.extender_calls import BindAnswer, BindCall, CallFailed
from podium.framework.status import Status
from podium.live.claim_writes import ClaimWrites, KnownClaim
from podium.live.object_access import ObjectAccess
from podium.live.pod_writes import PodWrites
from podium.live.status_patches import claim_statuses_patch, extended_claim_patch
from podium.live.volume_writes import VolumeWrites
from podium.live.write_metrics import WriteMetrics

Tell = Callable[[PodInfo, str, str, str], None]


class LiveApi:
    def __init__(
        self,
        client: KubeClient,
        pods: PodWrites,
        known_claim: KnownClaim,
        tell: Tell,
        *,
        clock: Clock,
        metrics: WriteMetrics,
        extenders: ExtenderClient | None = None,
    ) -> None:
        """`tell` records a Normal event: pod, reason, action, note."""
        self._pods = pods
        self._tell = tell
        self._clock = clock
        self._extenders = extenders
        objects = ObjectAccess(client)
        self.get = objects.get
        self.create = objects.create
        self.update = objects.update
        self.patch = objects.patch
        volumes = VolumeWrites(client)
        self.claims = ClaimWrites(client, known_claim, metrics)
        self.update_volume = volumes.update_volume
        self.update_claim = volumes.update_claim
        self.claim_turn = self.claims.claim_turn
        self.get_resource_claim = self.claims.get_resource_claim
        self.create_resource_claim = self.claims.create_resource_claim
        self.update_resource_claim = self.claims.update_resource_claim
        self.update_resource_claim_status = self.claims.update_resource_claim_status

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

    async def patch_extended_resource_claim_status(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        await self._pods.patch(pod.pod, extended_claim_patch(pod.pod, status))

    async def patch_node_allocatable_claim_statuses(
        self, pod: PodInfo, statuses: Sequence[NodeAllocatableResourceClaimStatus]
    ) -> None:
        await self._pods.patch(pod.pod, claim_statuses_patch(pod.pod, statuses))

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self._tell(pod, reason, action, note)

    async def pause(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
