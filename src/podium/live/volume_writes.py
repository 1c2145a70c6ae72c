"""Writes of volume binding: which claim a volume is for, which node a claim goes to.

Only the fields that scheduling decides about are sent, as merge patches with the resource version
that the decision was made on; the server refuses one that has moved on.
"""

from typing import Any

import msgspec

from podium.kubernetes.kinds.typed_objects import decode_as
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.client import KubeClient
from podium.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES


class VolumeWrites:
    """Raises ApiError and Unreachable; what was written comes back as it is stored."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        claim = volume.spec.claim_ref
        body = {
            "metadata": unchanged(volume.metadata) | _annotations(volume.metadata),
            "spec": {"claimRef": None if claim is None else msgspec.to_builtins(claim)},
        }
        stored = await self._client.patch(PERSISTENT_VOLUMES, volume.metadata.name, body)
        return decode_as(stored, PersistentVolume)

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        metadata = claim.metadata
        body = {"metadata": unchanged(metadata) | _annotations(metadata)}
        stored = await self._client.patch(
            PERSISTENT_VOLUME_CLAIMS, metadata.name, body, metadata.namespace
        )
        return decode_as(stored, PersistentVolumeClaim)


def unchanged(metadata: ObjectMeta) -> dict[str, Any]:
    """What has to be as it was for a write to go through."""
    return {"uid": metadata.uid, "resourceVersion": metadata.resource_version}


def _annotations(metadata: ObjectMeta) -> dict[str, Any]:
    return {"annotations": metadata.annotations} if metadata.annotations else {}
