"""An API server for claims that remembers, refuses and is slow."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace
from support.scheduler.plugins.device_builders import DeviceWorld

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import (
    NodeAllocatableResourceClaimStatus,
    Pod,
    PodExtendedResourceClaimStatus,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.handle import ObjectConflict
from podium.testing import FakeApi

K = TypeVar("K", bound=KubeObject)


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

    def _keep(self, claim: K) -> K:
        assert isinstance(claim, ResourceClaim)
        version = str(len(self.calls) + 1000)
        stored: K = replace(claim, metadata=replace(claim.metadata, resource_version=version))
        self.stored[claim.metadata.name] = stored  # type: ignore[assignment]
        return stored

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        self.calls.append(f"get {name}")
        found = self.stored[name]
        assert isinstance(found, kind)
        return found

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        name = f"{generate_name}x"
        self.calls.append(f"create {name}")
        assert not obj.metadata.name
        stored = self._keep(replace(obj, metadata=replace(obj.metadata, name=name, uid="made")))
        self.world.put(stored)
        return stored

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        assert base is not None
        assert base.metadata.resource_version == obj.metadata.resource_version
        self.calls.append(f"{subresource or 'update'} {obj.metadata.name}")
        if subresource and self.conflicts:
            self.conflicts -= 1
            raise ObjectConflict("the object has been modified")
        return self._keep(obj)

    async def patch(
        self,
        kind: type[K],
        name: str,
        patch: Mapping[str, Any],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> K:
        assert (kind, subresource) == (Pod, "status")
        self.calls.append(f"patch {name}")
        for field, value in patch["status"].items():
            if field == "extendedResourceClaimStatus":
                self.extended = msgspec.convert(value, PodExtendedResourceClaimStatus)
            else:
                assert field == "nodeAllocatableResourceClaimStatuses"
                kinds = tuple[NodeAllocatableResourceClaimStatus, ...]
                self.claim_statuses = msgspec.convert(value, kinds)
        return kind()

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self.calls.append(f"{reason}: {note}")

    async def pause(self, seconds: float) -> None:
        self.paused_s += seconds
        self.while_waiting()

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        raise AssertionError("PreBind does not bind")
