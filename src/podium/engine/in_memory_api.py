"""An API server's answers to the binding cycle, given at once and from memory.

Binding plugins write through an `ApiHandle` and are coroutines, because a real server takes its
time. This one tells the engine of every write as a watch would, and nothing in it takes time, so a
coroutine can be driven to its end without an event loop. Drivers that have no server share it: one
that measures as it is, one that simulates with controllers on top.
"""

from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import TypeVar

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.cluster.pod_info import PodInfo
from podium.offline.in_memory_objects import EngineApi
from podium.framework.api_handle import ApiCallFailed, ApiHandle, DeferredWrite

T = TypeVar("T")


class LiveClusterNeeded(RuntimeError):
    """A plugin waits for something that only a live cluster has."""


class InMemoryApi(EngineApi):
    # volumes

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        self._engine.intake.object_put(volume)
        return volume

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        self._engine.intake.object_put(claim)
        return claim

    # devices

    def claim_turn(self, _uid: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def get_resource_claim(self, namespace: str, name: str) -> ResourceClaim:
        found = self._engine.cluster.catalog.get(ResourceClaim, name, namespace)
        if found is None:
            raise LookupError(f'resourceclaims.resource.k8s.io "{name}" not found')
        return found

    async def create_resource_claim(
        self, claim: ResourceClaim, *, generate_name: str
    ) -> ResourceClaim:
        name = generate_name + claim.metadata.uid
        return self._put_claim(
            replace(claim, metadata=replace(claim.metadata, name=name, uid=name))
        )

    async def update_resource_claim(self, claim: ResourceClaim) -> ResourceClaim:
        return self._put_claim(claim)

    async def update_resource_claim_status(self, claim: ResourceClaim) -> ResourceClaim:
        return self._put_claim(claim)

    def _put_claim(self, claim: ResourceClaim) -> ResourceClaim:
        self._engine.intake.object_put(claim)
        return claim

    async def patch_extended_resource_claim_status(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        current = self._engine.state.pods.get(pod.key, pod.pod)
        patched = replace(current.status, extended_resource_claim_status=status)
        self._engine.intake.pod_put(replace(current, status=patched))

    async def patch_node_allocatable_claim_statuses(
        self, pod: PodInfo, statuses: Sequence[NodeAllocatableResourceClaimStatus]
    ) -> None:
        self.set_claim_statuses(pod, tuple(statuses))

    def set_claim_statuses(
        self, pod: PodInfo, statuses: tuple[NodeAllocatableResourceClaimStatus, ...] | None
    ) -> None:
        current = self._engine.state.pods.get(pod.key, pod.pod)
        patched = replace(current.status, node_allocatable_resource_claim_statuses=statuses)
        self._engine.intake.pod_put(replace(current, status=patched))


def carry_out(write: DeferredWrite, api: ApiHandle) -> None:
    """Carry out what a plugin left to be written; if it fails, the next attempt finds things as
    they are."""
    with suppress(ApiCallFailed):
        run_to_end(write.carry_out(api))


def run_to_end(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for nothing. Raises LiveClusterNeeded."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise LiveClusterNeeded("a plugin waits for something outside, which no simulation has")
