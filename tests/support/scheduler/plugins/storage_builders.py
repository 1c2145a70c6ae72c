"""Short ways to write volumes, claims and what goes with them in tests.

Like those of `podium.testing`: values as in YAML, decoded like any other input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.scheduler.cluster.state import Cluster

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED_NODE = "volume.kubernetes.io/selected-node"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def claim_volume(claim: str, name: str = "") -> dict[str, Any]:
    """A volume of a pod that names a claim."""
    return {"name": name or claim, "persistentVolumeClaim": {"claimName": claim}}


def make_claim(
    name: str,
    *,
    namespace: str = "default",
    volume: str = "",
    bound: bool | None = None,
    storage_class: str | None = None,
    request: str | None = "1Gi",
    modes: Sequence[str] = ("ReadWriteOnce",),
    annotations: Mapping[str, str] | None = None,
    owner: Pod | None = None,
    phase: str = "",
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> PersistentVolumeClaim:
    """A claim; one with a volume counts as bound unless told otherwise."""
    marks = BOUND if (bound if bound is not None else bool(volume)) else {}
    meta: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "annotations": {**marks, **(annotations or {})} or None,
        **(metadata or {}),
    }
    if owner is not None:
        meta["ownerReferences"] = [
            {"kind": "Pod", "name": owner.metadata.name, "uid": owner.metadata.uid}
            | {"controller": True}
        ]
    body: dict[str, Any] = {"accessModes": list(modes), "volumeName": volume, **spec}
    if storage_class is not None:
        body["storageClassName"] = storage_class
    if request is not None:
        body["resources"] = {"requests": {"storage": request}}
    raw = {"metadata": meta, "spec": body, "status": {"phase": phase}}
    return msgspec.convert(raw, PersistentVolumeClaim)


def make_volume(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    storage_class: str = "",
    capacity: str | None = "1Gi",
    modes: Sequence[str] = ("ReadWriteOnce",),
    nodes: Sequence[str] | None = None,
    terms: Sequence[Mapping[str, Any]] | None = None,
    claim: PersistentVolumeClaim | Mapping[str, Any] | None = None,
    phase: str = "Available",
    csi: tuple[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> PersistentVolume:
    """A volume; `nodes` are host names that reach it, `terms` a node affinity in full."""
    body: dict[str, Any] = {
        "accessModes": list(modes),
        "storageClassName": storage_class,
        **spec,
    }
    if capacity is not None:
        body["capacity"] = {"storage": capacity}
    if nodes is not None:
        terms = [{"matchExpressions": [expression("kubernetes.io/hostname", "In", *nodes)]}]
    if terms is not None:
        body["nodeAffinity"] = {"required": {"nodeSelectorTerms": list(terms)}}
    if isinstance(claim, PersistentVolumeClaim):
        meta = claim.metadata
        claim = {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid}
    if claim is not None:
        body["claimRef"] = dict(claim)
    if csi is not None:
        body["csi"] = {"driver": csi[0], "volumeHandle": csi[1]}
    raw = {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels, **(metadata or {})},
        "spec": body,
        "status": {"phase": phase},
    }
    return msgspec.convert(raw, PersistentVolume)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def make_class(
    name: str,
    *,
    provisioner: str = "csi.example.com",
    mode: str | None = "WaitForFirstConsumer",
    topologies: Sequence[Mapping[str, Sequence[str]]] | None = None,
) -> StorageClass:
    """A class; a topology is a map from label key to the values it allows."""
    raw: dict[str, Any] = {"metadata": {"name": name}, "provisioner": provisioner}
    if mode is not None:
        raw["volumeBindingMode"] = mode
    if topologies is not None:
        raw["allowedTopologies"] = [
            {"matchLabelExpressions": [{"key": k, "values": list(v)} for k, v in t.items()]}
            for t in topologies
        ]
    return msgspec.convert(raw, StorageClass)


def make_csi_node(
    name: str, drivers: Mapping[str, int | None] | None = None, *, migrated: Sequence[str] = ()
) -> CSINode:
    """A CSINode; drivers are name -> limit or None."""
    raw = {
        "metadata": {"name": name, "annotations": {MIGRATED: ",".join(migrated)}},
        "spec": {
            "drivers": [
                {"name": driver, "nodeID": name, "allocatable": {"count": limit}}
                if limit is not None
                else {"name": driver, "nodeID": name}
                for driver, limit in (drivers or {}).items()
            ]
        },
    }
    return msgspec.convert(raw, CSINode)


def make_driver(name: str, **spec: Any) -> CSIDriver:
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, CSIDriver)


def make_capacity(
    name: str,
    storage_class: str,
    *,
    topology: Mapping[str, str] | None,
    capacity: str | None = None,
    largest: str | None = None,
) -> CSIStorageCapacity:
    raw: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": storage_class,
    }
    if topology is not None:
        raw["nodeTopology"] = {"matchLabels": dict(topology)}
    if capacity is not None:
        raw["capacity"] = capacity
    if largest is not None:
        raw["maximumVolumeSize"] = largest
    return msgspec.convert(raw, CSIStorageCapacity)


def make_attachment(name: str, *, node: str, driver: str, volume: str | None) -> VolumeAttachment:
    source = {} if volume is None else {"persistentVolumeName": volume}
    spec = {"attacher": driver, "nodeName": node, "source": source}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, VolumeAttachment)


def put(cluster: Cluster, *objects: Any) -> None:
    for found in objects:
        cluster.catalog.put(found)
