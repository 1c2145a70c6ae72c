"""Storage objects and volumes are decoded with the names Kubernetes writes."""

from typing import Any

import pytest

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
from podium.kubernetes.kinds.typed_objects import decode_object


def storage(kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, **parts}


def core(kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, **parts}


SOURCES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
        "gce_persistent_disk",
        {"pd_name": "d"},
    ),
    (
        {"awsElasticBlockStore": {"volumeID": "vol-1"}},
        "aws_elastic_block_store",
        {"volume_id": "vol-1"},
    ),
    (
        {"rbd": {"monitors": ["a"], "image": "i", "pool": "p"}},
        "rbd",
        {"monitors": ("a",), "pool": "p"},
    ),
    ({"iscsi": {"iqn": "q", "lun": 1, "targetPortal": "t"}}, "iscsi", {"iqn": "q"}),
    (
        {"azureDisk": {"diskName": "d", "diskURI": "u"}},
        "azure_disk",
        {"disk_uri": "u", "kind": None},
    ),
    ({"azureFile": {"secretName": "s", "shareName": "f"}}, "azure_file", {"share_name": "f"}),
    ({"cinder": {"volumeID": "c"}}, "cinder", {"volume_id": "c"}),
    ({"vsphereVolume": {"volumePath": "[ds] v"}}, "vsphere_volume", {"volume_path": "[ds] v"}),
    ({"portworxVolume": {"volumeID": "p"}}, "portworx_volume", {"volume_id": "p"}),
]


@pytest.mark.parametrize(("source", "attribute", "fields"), SOURCES)
def test_pods_and_persistent_volumes_share_their_sources(
    source: dict[str, Any], attribute: str, fields: dict[str, Any]
) -> None:
    pod = decode_object(core("Pod", spec={"volumes": [{"name": "v", **source}]}), strict=True)
    volume = decode_object(core("PersistentVolume", spec=source), strict=True)
    assert isinstance(pod, Pod)
    assert isinstance(volume, PersistentVolume)
    assert pod.spec.volumes is not None
    inline = getattr(pod.spec.volumes[0], attribute)
    assert inline == getattr(volume.spec, attribute)
    assert {name: getattr(inline, name) for name in fields} == fields


def test_a_csi_volume_has_a_handle_only_behind_a_persistent_volume() -> None:
    volume = decode_object(
        core("PersistentVolume", spec={"csi": {"driver": "d", "volumeHandle": "h"}}), strict=True
    )
    assert isinstance(volume, PersistentVolume)
    assert volume.spec.csi is not None
    assert (volume.spec.csi.driver, volume.spec.csi.volume_handle) == ("d", "h")
    pod = decode_object(core("Pod", spec={"volumes": [{"csi": {"driver": "d"}}]}), strict=True)
    assert isinstance(pod, Pod)


def test_a_pod_names_claims_and_describes_ephemeral_ones() -> None:
    claim = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": claim}},
        {"name": "c", "image": {"reference": "r", "pullPolicy": "Always"}},
        {"name": "d", "configMap": {"name": "m"}},
        {"name": "e", "projected": {"sources": []}},
    ]
    pod = decode_object(core("Pod", spec={"volumes": volumes}), strict=True)
    assert isinstance(pod, Pod)
    assert pod.spec.volumes is not None
    named, ephemeral, image, *_ = pod.spec.volumes
    assert named.persistent_volume_claim is not None
    assert named.persistent_volume_claim.claim_name == "data"
    assert ephemeral.ephemeral is not None
    template = ephemeral.ephemeral.volume_claim_template
    assert template is not None
    assert template.spec.storage_class_name == ""
    assert template.spec.resources.requests == {"storage": "1Gi"}
    assert image.image is not None
    assert image.image.reference == "r"


def test_a_persistent_volume_says_what_it_offers_and_to_whom() -> None:
    spec = {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
        "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "ns", "name": "c", "uid": "u"},
        "storageClassName": "fast",
        "volumeMode": "Block",
        "volumeAttributesClassName": "gold",
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": "/mnt"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]
            }
        },
    }
    volume = decode_object(
        core("PersistentVolume", spec=spec, status={"phase": "Available"}), strict=True
    )
    assert isinstance(volume, PersistentVolume)
    assert volume.status.phase == "Available"
    assert volume.spec.claim_ref is not None
    assert volume.spec.claim_ref.uid == "u"
    assert volume.spec.volume_attributes_class_name == "gold"
    assert volume.spec.node_affinity is not None
    assert volume.spec.node_affinity.required is not None


def test_a_claim_tells_an_empty_class_from_none() -> None:
    unset = decode_object(core("PersistentVolumeClaim", spec={}), strict=True)
    empty = decode_object(core("PersistentVolumeClaim", spec={"storageClassName": ""}), strict=True)
    assert isinstance(unset, PersistentVolumeClaim)
    assert isinstance(empty, PersistentVolumeClaim)
    assert unset.spec.storage_class_name is None
    assert empty.spec.storage_class_name == ""


def test_a_storage_class_may_leave_its_binding_mode_out() -> None:
    term = {"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}
    storage_class = decode_object(
        storage("StorageClass", provisioner="p", allowedTopologies=[term], parameters={"a": "b"}),
        strict=True,
    )
    assert isinstance(storage_class, StorageClass)
    assert storage_class.volume_binding_mode is None
    assert storage_class.allowed_topologies is not None
    (requirement,) = storage_class.allowed_topologies[0].match_label_expressions or ()
    assert requirement.values == ("a",)


def test_csi_objects_report_limits_and_room() -> None:
    node = decode_object(
        storage(
            "CSINode", spec={"drivers": [{"name": "d", "nodeID": "n", "allocatable": {"count": 3}}]}
        ),
        strict=True,
    )
    assert isinstance(node, CSINode)
    assert node.spec.drivers is not None
    assert node.spec.drivers[0].node_id == "n"
    assert node.spec.drivers[0].allocatable is not None
    assert node.spec.drivers[0].allocatable.count == 3

    driver = decode_object(
        storage("CSIDriver", spec={"storageCapacity": True, "attachRequired": False}), strict=True
    )
    assert isinstance(driver, CSIDriver)
    assert driver.spec.storage_capacity is True
    assert driver.spec.prevent_pod_scheduling_if_missing is None

    capacity = decode_object(
        storage("CSIStorageCapacity", storageClassName="fast", maximumVolumeSize="2Gi"), strict=True
    )
    assert isinstance(capacity, CSIStorageCapacity)
    assert (capacity.capacity, capacity.maximum_volume_size) == (None, "2Gi")
    assert capacity.node_topology is None


def test_an_attachment_names_a_volume_or_nothing() -> None:
    spec = {"attacher": "d", "nodeName": "n", "source": {"inlineVolumeSpec": {"csi": {}}}}
    attachment = decode_object(storage("VolumeAttachment", spec=spec), strict=True)
    assert isinstance(attachment, VolumeAttachment)
    assert attachment.spec.source.persistent_volume_name is None
    assert not attachment.status.attached
