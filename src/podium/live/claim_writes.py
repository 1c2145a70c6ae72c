"""Writes of dynamic resource allocation: claims created, reserved, released and deleted.

As for volumes, only what scheduling decides about is sent, with the resource version that the
decision was made on. A refusal for that reason is a `WriteConflict`: whoever asked reads the claim
again and decides anew.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimStatus
from podium.kubernetes.kinds.typed_objects import decode_as
from podium.client import DeleteOptions, KubeClient
from podium.client.api_errors import AlreadyExists, Conflict, NotFound
from podium.client.resources import RESOURCE_CLAIMS
from podium.live.keyed_lock import KeyedLock
from podium.live.volume_writes import unchanged
from podium.live.write_metrics import WriteMetrics
from podium.plugins.dynamic_resources.claim_writing import (
    FINALIZER,
    ClaimWrite,
    Deallocate,
    DeleteClaim,
    ReleaseReservation,
    WriteConflict,
    deallocated,
    released,
)

KnownClaim = Callable[[str, str], ResourceClaim | None]


class ClaimWrites:
    """Raises ApiError and Unreachable, and WriteConflict for a claim that has moved on."""

    def __init__(self, client: KubeClient, known: KnownClaim, metrics: WriteMetrics) -> None:
        """`known` is the claim of a namespace and name as it was seen last."""
        self._client = client
        self._metrics = metrics
        self._known = known
        self._turns = KeyedLock()

    def claim_turn(self, uid: str) -> AbstractAsyncContextManager[None]:
        return self._turns.hold(uid)

    async def get_resource_claim(self, namespace: str, name: str) -> ResourceClaim:
        return decode_as(await self._client.get(RESOURCE_CLAIMS, name, namespace), ResourceClaim)

    async def create_resource_claim(
        self, claim: ResourceClaim, *, generate_name: str
    ) -> ResourceClaim:
        body: dict[str, Any] = msgspec.to_builtins(claim)
        body.pop("status", None)
        metadata: dict[str, Any] = body["metadata"]
        for given_by_server in ("name", "uid", "resourceVersion", "creationTimestamp"):
            metadata.pop(given_by_server, None)
        metadata["generateName"] = generate_name
        body |= {"apiVersion": RESOURCE_CLAIMS.api_version, "kind": RESOURCE_CLAIMS.kind}
        ok = False
        try:
            stored = await self._client.create(RESOURCE_CLAIMS, body, claim.metadata.namespace)
            ok = True
        finally:
            self._metrics.claim_created(ok=ok)
        return decode_as(stored, ResourceClaim)

    async def update_resource_claim(self, claim: ResourceClaim) -> ResourceClaim:
        return await self._patch(claim, {}, finalizers=claim.metadata.finalizers or ())

    async def update_resource_claim_status(self, claim: ResourceClaim) -> ResourceClaim:
        return await self._patch(claim, {"status": self._status(claim)}, subresource="status")

    async def carry_out(self, write: ClaimWrite) -> None:
        """A write that nobody waits for; a claim that has moved on is left alone."""
        claim = write.claim
        try:
            async with self.claim_turn(claim.metadata.uid):
                match write:
                    case Deallocate():
                        await self.update_resource_claim_status(deallocated(claim))
                    case ReleaseReservation():
                        await self._release(claim, write.pod_uid)
                    case DeleteClaim():
                        await self._delete(claim)
        except (NotFound, WriteConflict):
            return

    async def _release(self, claim: ResourceClaim, pod_uid: str) -> None:
        metadata = claim.metadata
        current = await self.get_resource_claim(metadata.namespace, metadata.name)
        if current.metadata.uid != metadata.uid:
            return
        without = released(current, pod_uid)
        if without.status != current.status:
            await self.update_resource_claim_status(without)

    async def _delete(self, claim: ResourceClaim) -> None:
        metadata = claim.metadata
        current = await self.get_resource_claim(metadata.namespace, metadata.name)
        if current.metadata.uid != metadata.uid:
            return
        kept = tuple(each for each in current.metadata.finalizers or () if each != FINALIZER)
        if len(kept) < len(current.metadata.finalizers or ()):
            await self._patch(current, {}, finalizers=kept)
        options = DeleteOptions(uid=metadata.uid)
        await self._client.delete(RESOURCE_CLAIMS, metadata.name, metadata.namespace, options)

    def _status(self, claim: ResourceClaim) -> dict[str, Any]:
        """The status to be; an allocation that stays is left as it stands on the server."""
        wanted = claim.status
        if wanted == ResourceClaimStatus():
            return {"allocation": None, "reservedFor": None, "devices": None}
        status: dict[str, Any] = {"reservedFor": _written(wanted.reserved_for)}
        metadata = claim.metadata
        before = self._known(metadata.namespace, metadata.name)
        stays = (
            before is not None
            and before.metadata.resource_version == metadata.resource_version
            and before.status.allocation == wanted.allocation
        )
        if not stays:
            status["allocation"] = _written(wanted.allocation)
        return status

    async def _patch(
        self,
        claim: ResourceClaim,
        body: dict[str, Any],
        *,
        finalizers: tuple[str, ...] | None = None,
        subresource: str = "",
    ) -> ResourceClaim:
        metadata = unchanged(claim.metadata)
        if finalizers is not None:
            metadata["finalizers"] = list(finalizers)
        try:
            stored = await self._client.patch(
                RESOURCE_CLAIMS,
                claim.metadata.name,
                {"metadata": metadata, **body},
                claim.metadata.namespace,
                subresource=subresource,
            )
        except AlreadyExists:
            raise
        except Conflict as problem:
            raise WriteConflict(str(problem)) from problem
        return decode_as(stored, ResourceClaim)


def _written(value: object) -> Any:
    return None if value is None else msgspec.to_builtins(value)
