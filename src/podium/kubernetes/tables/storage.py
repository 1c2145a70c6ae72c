"""Volumes, claims, classes and drivers; and the kinds that hold data for others."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNSET,
    age_of,
    column,
    columns_of,
    is_terminating,
    name_of,
    spec_of,
    status_of,
)

_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _annotations(obj: JsonObject) -> JsonObject:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _class_name(obj: JsonObject) -> str:
    annotated = _annotations(obj).get(_CLASS_ANNOTATION)
    return str(annotated or spec_of(obj).get("storageClassName") or "")


def _phase(obj: JsonObject) -> str:
    return "Terminating" if is_terminating(obj) else str(status_of(obj).get("phase") or "")


def _or_unset(value: str | None) -> str:
    return UNSET if value is None else value


def _volume(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    claim = spec.get("claimRef")
    holder = f"{claim.get('namespace') or ''}/{claim.get('name') or ''}" if claim else ""
    return [
        name_of(obj),
        (spec.get("capacity") or {}).get("storage") or "0",
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        holder,
        _class_name(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        status_of(obj).get("reason") or "",
        age_of(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


def _claim(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    volume = spec.get("volumeName") or ""
    return [
        name_of(obj),
        _phase(obj),
        volume,
        ((status.get("capacity") or {}).get("storage") or "0") if volume else "",
        _modes(status.get("accessModes")) if volume else "",
        _class_name(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        age_of(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


def _attributes_class(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), obj.get("driverName") or "", age_of(obj, now)]


def _storage_class(obj: JsonObject, now: float) -> Cells:
    annotations = _annotations(obj)
    name = name_of(obj)
    if any(annotations.get(mark) == "true" for mark in _DEFAULT_MARKS):
        name = f"{name} (default)"
    return [
        name,
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age_of(obj, now),
    ]


def _attachment(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    return [
        name_of(obj),
        spec.get("attacher") or "",
        (spec.get("source") or {}).get("persistentVolumeName") or "",
        spec.get("nodeName") or "",
        bool(status_of(obj).get("attached")),
        age_of(obj, now),
    ]


def _csi_node(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), len(spec_of(obj).get("drivers") or ()), age_of(obj, now)]


def _csi_driver(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    tokens = spec.get("tokenRequests")
    audiences = UNSET
    if tokens is not None:
        audiences = ",".join(token.get("audience") or "" for token in tokens)
    return [
        name_of(obj),
        spec.get("attachRequired", True),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        audiences,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age_of(obj, now),
    ]


def _config_map(obj: JsonObject, now: float) -> Cells:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [name_of(obj), count, age_of(obj, now)]


def _secret(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), obj.get("type") or "", len(obj.get("data") or ()), age_of(obj, now)]


def _quota(obj: JsonObject, now: float) -> Cells:
    status = status_of(obj)
    used: JsonObject = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name, hard in sorted((status.get("hard") or {}).items()):
        shown = limits if name.startswith("limits.") else requests
        shown.append(f"{name}: {used.get(name) or '0'}/{hard}")
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, now)]


VOLUME: Final = Printer(
    columns_of(
        "Name",
        "Capacity",
        "Access Modes",
        "Reclaim Policy",
        "Status",
        "Claim",
        "StorageClass",
        "VolumeAttributesClass",
        "Reason",
        "Age",
        wide=("VolumeMode",),
    ),
    _volume,
)
CLAIM: Final = Printer(
    columns_of(
        "Name",
        "Status",
        "Volume",
        "Capacity",
        "Access Modes",
        "StorageClass",
        "VolumeAttributesClass",
        "Age",
        wide=("VolumeMode",),
    ),
    _claim,
)
ATTRIBUTES_CLASS: Final = Printer(columns_of("Name", "DriverName", "Age"), _attributes_class)
STORAGE_CLASS: Final = Printer(
    columns_of(
        "Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"
    ),
    _storage_class,
)
ATTACHMENT: Final = Printer(
    [
        *columns_of("Name"),
        column("Attacher", form="name"),
        *columns_of("PV", "Node", "Attached:boolean", "Age"),
    ],
    _attachment,
)
CSI_NODE: Final = Printer(columns_of("Name", "Drivers:integer", "Age"), _csi_node)
CSI_DRIVER: Final = Printer(
    columns_of(
        "Name",
        "AttachRequired:boolean",
        "PodInfoOnMount:boolean",
        "StorageCapacity:boolean",
        "TokenRequests",
        "RequiresRepublish:boolean",
        "Modes",
        "Age",
    ),
    _csi_driver,
)
CONFIG_MAP: Final = Printer(columns_of("Name", "Data", "Age"), _config_map)
SECRET: Final = Printer(columns_of("Name", "Type", "Data", "Age"), _secret)
QUOTA: Final = Printer(columns_of("Name", "Request", "Limit", "Age"), _quota)
