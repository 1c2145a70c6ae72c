"""Claims that are made for a pod and go with it: of volumes, and of devices.

A generic ephemeral volume becomes a PersistentVolumeClaim named after pod and volume. A claim
template becomes a ResourceClaim whose name is written into the pod's status; the scheduler waits
for both (`pkg/controller/volume/ephemeral`, `pkg/controller/resourceclaim`).
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import Kind, owner_reference
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.volumes import ephemeral_claim_name

POD: Final = Kind("v1", "Pod")
POD_CLAIM: Final = "resource.kubernetes.io/pod-claim-name"


class ResourceClaimTemplate(KubeObject, frozen=True):
    """A template; what is in it is passed on as it is."""

    spec: JsonObject = msgspec.field(default_factory=dict)


def volume_claim(pod: ObjectMeta, volume: str, template: JsonObject) -> JsonObject:
    """The claim of an ephemeral volume, from the volume's claim template."""
    metadata = _metadata(pod, template)
    metadata["name"] = ephemeral_claim_name(pod.name, volume)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


def device_claim(pod: ObjectMeta, entry: str, template: JsonObject) -> JsonObject:
    """The claim for an entry of a pod's resourceClaims, from the spec of a claim template."""
    metadata = _metadata(pod, template)
    metadata["generateName"] = f"{pod.name}-{entry}-"
    metadata["annotations"] = {**metadata["annotations"], POD_CLAIM: entry}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


def release_claims(
    uid: str, claims: Iterable[ResourceClaim]
) -> Iterator[tuple[ResourceClaim, ResourceClaim | None]]:
    """What becomes of device claims when the pod with a UID is gone: (before, after) of each that
    changes, None after one that goes with its pod. A claim that nobody uses gives its devices up.
    """
    for claim in claims:
        users = claim.status.reserved_for or ()
        left = tuple(user for user in users if user.uid != uid)
        if any(owner.uid == uid for owner in claim.metadata.owner_references or ()):
            yield claim, None
        elif len(left) < len(users):
            allocation = claim.status.allocation if left else None
            status = replace(claim.status, reserved_for=left or None, allocation=allocation)
            yield claim, replace(claim, status=status)


def _metadata(pod: ObjectMeta, template: JsonObject) -> JsonObject:
    written = template.get("metadata") or {}
    return {
        "labels": written.get("labels") or {},
        "annotations": written.get("annotations") or {},
        "ownerReferences": [owner_reference(POD, pod)],
    }
