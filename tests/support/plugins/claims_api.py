"""An API server for claims that remembers, refuses and is slow."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from msgspec.structs import replace
from support.plugins.device_builders import DeviceWorld

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus
from podium.cluster.pod_info import PodInfo
from podium.plugins.dynamic_resources.claim_writing import WriteConflict
from podium.testing import FakeApi


class ClaimsApi(FakeApi):
    """Claims with versions; `conflicts` writes are refused first, `watching` shows writes."""

    def __init__(self, world: DeviceWorld, *, conflicts: int = 0) -> None:
        super().__init__()
        self.world = world
        self.conflicts = conflicts
        self.stored = {c.metadata.name: c for c in world.cluster.catalog.all(ResourceClaim)}
        self.calls: list[str] = []
        self.while_waiting: Callable[[], None] = lambda: None
        self.extended: PodExtendedResourceClaimStatus | None = None
        self.claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()

    def _store_claim(self, claim: ResourceClaim) -> ResourceClaim:
        version = str(len(self.calls) + 1000)
        stored = replace(claim, metadata=replace(claim.metadata, resource_version=version))
        self.stored[claim.metadata.name] = stored
        return stored

    def claim_turn(self, _uid: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def get_resource_claim(self, namespace: str, name: str) -> ResourceClaim:
        self.calls.append(f"get {name}")
        return self.stored[name]

    async def create_resource_claim(
        self, claim: ResourceClaim, *, generate_name: str
    ) -> ResourceClaim:
        name = f"{generate_name}x"
        self.calls.append(f"create {name}")
        made = replace(claim, metadata=replace(claim.metadata, name=name, uid="made"))
        stored = self._store_claim(made)
        self.world.put(stored)
        return stored

    async def update_resource_claim(self, claim: ResourceClaim) -> ResourceClaim:
        self.calls.append(f"update {claim.metadata.name}")
        return self._store_claim(claim)

    async def update_resource_claim_status(self, claim: ResourceClaim) -> ResourceClaim:
        self.calls.append(f"status {claim.metadata.name}")
        if self.conflicts:
            self.conflicts -= 1
            raise WriteConflict("the object has been modified")
        return self._store_claim(claim)

    async def patch_extended_resource_claim_status(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        self.calls.append(f"patch {pod.pod.metadata.name}")
        self.extended = status

    async def patch_node_allocatable_claim_statuses(
        self, pod: PodInfo, statuses: Sequence[NodeAllocatableResourceClaimStatus]
    ) -> None:
        self.calls.append(f"patch {pod.pod.metadata.name}")
        self.claim_statuses = tuple(statuses)

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self.calls.append(f"{reason}: {note}")

    async def pause(self, seconds: float) -> None:
        self.paused_s += seconds
        self.while_waiting()

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        raise AssertionError("PreBind does not bind")
