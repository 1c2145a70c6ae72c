"""Storage in use stays until nobody uses it, and claims without a class get the default one."""

from collections.abc import Sequence
from typing import Final

from podium.api.quantity import nano
from podium.apiserver import status_errors
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.json_values import JsonObject
from podium.apiserver.resources.resource import Resource

_GROUP: Final = "storage.k8s.io"
_CLASSES: Final = "storageclasses"
_DEFAULT_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_FINALIZERS: Final = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


def protect(resource: Resource, obj: JsonObject) -> None:
    """The finalizer that keeps a volume or claim while it is in use."""
    metadata, finalizer = obj["metadata"], _FINALIZERS[resource.kind]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def set_default_class(claim: JsonObject, lookup: Lookup) -> None:
    """A claim that names no class, not even none, gets the newest default class."""
    spec = claim["spec"]
    annotations = claim["metadata"].get("annotations") or {}
    if spec.get("storageClassName") is not None or _CLASS_ANNOTATION in annotations:
        return
    name = lookup.derived(_GROUP, _CLASSES, _default_class_name)
    if name:
        spec["storageClassName"] = name


def _default_class_name(classes: Sequence[JsonObject]) -> str:
    defaults = [each["metadata"] for each in classes if _is_default(each)]
    if not defaults:
        return ""
    newest = max(metadata.get("creationTimestamp") or "" for metadata in defaults)
    names = (each["name"] for each in defaults if (each.get("creationTimestamp") or "") == newest)
    return str(min(names))


def _is_default(storage_class: JsonObject) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(mark) == "true" for mark in _DEFAULT_MARKS)


def refuse_growth(resource: Resource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
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
