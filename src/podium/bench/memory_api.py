"""An API server's answers to the binding cycle, given at once and from memory.

Every write is told to the engine as a watch would tell it. Nothing here takes time of its own, so
what is measured is the engine.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace

from podium.api.devices import ResourceClaim
from podium.api.pod import PodExtendedResourceClaimStatus
from podium.api.storage import PersistentVolume, PersistentVolumeClaim
from podium.cluster.pod_info import PodInfo
from podium.engine.memory_api import EngineApi

T = TypeVar("T")


class MemoryApi(EngineApi):
    # volumes

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        self._engine.intake.object_put(volume)
        return volume

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        self._engine.intake.object_put(claim)
        return claim

    # devices

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


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("an in-memory binding must not wait")
