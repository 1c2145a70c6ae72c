"""From a template to a pod and its claims, and from a deployment to its replica set.

Claims that are made for a pod and go with it: of volumes, and of devices. A generic ephemeral
volume becomes a PersistentVolumeClaim named after pod and volume. A claim template becomes a
ResourceClaim whose name is written into the pod's status; the scheduler waits for both
(`pkg/controller/volume/ephemeral`, `pkg/controller/resourceclaim`).
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.workloads import Deployment, PodTemplate
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.volumes import ephemeral_claim_name

DEPLOYMENT: Final = OwnerKind("apps/v1", "Deployment")
TEMPLATE_HASH: Final = "pod-template-hash"
REVISION_HASH: Final = "controller-revision-hash"


def canonical(value: object) -> bytes:
    """Bytes that are equal exactly when the JSON is, whatever the order of its keys."""
    return msgspec.json.encode(value, order="sorted")


def template_hash(template: PodTemplate) -> str:
    """Tells templates apart. It is not the hash that kube-controller-manager works out."""
    return sha256(canonical(template)).hexdigest()[:10]


def pod_from_template(
    kind: OwnerKind,
    owner: ObjectMeta,
    template: PodTemplate,
    *,
    name: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    finalizers: list[str] | None = None,
    spec: JsonObject | None = None,
) -> JsonObject:
    """A new pod; without a name the server makes one up that begins with the owner's."""
    metadata: JsonObject = {
        "labels": {**(template.metadata.get("labels") or {}), **(labels or {})},
        "annotations": {**(template.metadata.get("annotations") or {}), **(annotations or {})},
        "ownerReferences": [owner_reference(kind, owner)],
    }
    named = finalizers or template.metadata.get("finalizers")
    if named:
        metadata["finalizers"] = list(named)
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = f"{owner.name}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": template.spec if spec is None else spec,
    }


def replica_set_of(
    deployment: Deployment, replicas: int, annotations: dict[str, str]
) -> JsonObject:
    """The replica set of the present template, which carries and selects the template's hash."""
    spec = deployment.spec
    mark = {TEMPLATE_HASH: template_hash(spec.template)}
    labels = {**(spec.template.metadata.get("labels") or {}), **mark}
    selector: JsonObject = {"matchLabels": mark}
    if spec.selector is not None:
        selector["matchLabels"] = {**(spec.selector.match_labels or {}), **mark}
        expressions = spec.selector.match_expressions or ()
        if expressions:
            selector["matchExpressions"] = list(expressions)
    return {
        "apiVersion": DEPLOYMENT.api_version,
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{deployment.name}-{mark[TEMPLATE_HASH]}",
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [owner_reference(DEPLOYMENT, deployment.metadata)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.min_ready_seconds,
            "selector": selector,
            "template": {
                "metadata": {**spec.template.metadata, "labels": labels},
                "spec": spec.template.spec,
            },
        },
    }


POD: Final = OwnerKind("v1", "Pod")
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
