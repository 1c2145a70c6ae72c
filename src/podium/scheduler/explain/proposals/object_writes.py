"""What commands write of objects beside pods and nodes: creations, replacements, changes.

The commands that are printed and the rehearsal that tries them both go by this, so that what is
tried is what is printed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.provisioning import PROVISIONED_BY
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.merge_patch import difference
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.framework.plugin import BY_HAND

_BY_ITSELF = (CSINode, ResourceSlice)
"""Kinds that come with a node."""
_BINDING = ("pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller")


class Verb(Enum):
    CREATE = "create"
    DELETE = "delete"
    REPLACE = "replace"
    """Delete and create again."""
    PATCH = "patch"


@dataclass(frozen=True, slots=True)
class ObjectWrite:
    """`body` is the object to create, or a merge patch."""

    verb: Verb
    obj: KubeObject
    before: KubeObject | None
    body: JsonObject


def list_object_writes(
    objects: Iterable[KubeObject], pod: Pod, catalog: Catalog
) -> Iterator[ObjectWrite]:
    """What turns the objects that there are into those that are supposed for a pod."""
    for obj in objects:
        write = _write_of(obj, catalog.get(type(obj), obj.name, obj.namespace), pod)
        if write is not None:
            yield write


def _write_of(obj: KubeObject, before: KubeObject | None, pod: Pod) -> ObjectWrite | None:
    if isinstance(obj, _BY_ITSELF):
        return None
    if isinstance(obj, PersistentVolume):
        if obj.metadata.annotation(PROVISIONED_BY) != BY_HAND:
            return None
        return ObjectWrite(Verb.CREATE, obj, None, _without_marks(obj))
    if any(owner.uid == uid_of(pod) for owner in obj.metadata.owner_references or ()):
        return ObjectWrite(Verb.DELETE, obj, before, {}) if before is not None else None
    if before is None:
        return ObjectWrite(Verb.CREATE, obj, None, _without_marks(obj))
    change = _change_of(before, obj)
    if not change:
        return None
    if isinstance(before, PersistentVolumeClaim | ResourceClaim):
        return ObjectWrite(Verb.REPLACE, obj, before, {**change, "status": None})
    return ObjectWrite(Verb.PATCH, obj, before, change)


def _change_of(before: KubeObject, after: KubeObject) -> JsonObject:
    """What a user would write to turn an object into another; what binding leaves in a claim is
    left to binding."""
    change = difference(_written(before), _written(after))
    found: JsonObject = change if isinstance(change, dict) else {}
    if isinstance(before, PersistentVolumeClaim) and isinstance(after, PersistentVolumeClaim):
        was, will = before.spec.volume_name, after.spec.volume_name
        if was and was != will:
            found["spec"] = {**found.get("spec", {}), "volumeName": None}
            found["metadata"] = {"annotations": dict.fromkeys(_BINDING)}
    return found


def _written(obj: KubeObject) -> JsonObject:
    """What a user writes of an object: no status, and of a claim not which volume it got."""
    body: JsonObject = msgspec.to_builtins(obj)
    found = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    if isinstance(obj, PersistentVolumeClaim):
        found["spec"] = {k: v for k, v in found.get("spec", {}).items() if k != "volumeName"}
    return found


def _without_marks(obj: KubeObject) -> JsonObject:
    body = _written(obj)
    metadata: JsonObject = {"name": obj.name}
    if obj.namespace:
        metadata["namespace"] = obj.namespace
    if obj.metadata.labels:
        metadata["labels"] = obj.metadata.labels
    spec = body.get("spec")
    if isinstance(obj, PersistentVolume) and isinstance(spec, dict):
        spec.get("claimRef", {}).pop("uid", None)
        spec["persistentVolumeReclaimPolicy"] = "Retain"
        spec["hostPath"] = {"path": f"/mnt/{obj.name}"}
    if isinstance(obj, DeviceClass):
        body.setdefault("spec", {})
    return {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": metadata, **body}
