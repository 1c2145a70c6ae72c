"""Storage in use stays until nobody uses it, and claims without a class get the default one."""

from collections.abc import Sequence
from typing import Final

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION, default_storage_class

_GROUP: Final = "storage.k8s.io"
_CLASSES: Final = "storageclasses"
_FINALIZERS: Final = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


def protect(resource: ApiResource, obj: JsonObject) -> None:
    """The finalizer that keeps a volume or claim while it is in use."""
    metadata, finalizer = obj["metadata"], _FINALIZERS[resource.kind]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def set_default_class(claim: JsonObject, lookup: Lookup) -> None:
    """A claim that names no class, not even none, gets the newest default class."""
    spec = claim["spec"]
    annotations = claim["metadata"].get("annotations") or {}
    if spec.get("storageClassName") is not None or CLASS_ANNOTATION in annotations:
        return
    name = lookup.get_derived(_GROUP, _CLASSES, _default_class_name)
    if name:
        spec["storageClassName"] = name


def _default_class_name(classes: Sequence[JsonObject]) -> str:
    return default_storage_class(msgspec.convert(each["metadata"], ObjectMeta) for each in classes)


def refuse_growth(resource: ApiResource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
    """A claim can only grow if it is bound and its class can make volumes grow."""
    if nano(_size(new)) <= nano(_size(old)):
        return
    name = new["metadata"].get("name", "")
    if (old.get("status") or {}).get("phase") != "Bound":
        why = "Only bound persistent volume claims can be expanded"
        raise status_errors.forbidden(resource, name, why)
    class_name = new["spec"].get("storageClassName")
    found = lookup.find(_GROUP, _CLASSES, "", class_name) if class_name else None
    same = class_name == old["spec"].get("storageClassName")
    if not same or not (found or {}).get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions "
            "the pvc must support resize"
        )
        raise status_errors.forbidden(resource, name, why)


def _size(claim: JsonObject) -> str:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return str(requests.get("storage") or "0")
