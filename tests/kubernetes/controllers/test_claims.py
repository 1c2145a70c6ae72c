"""Claims that are made for a pod, and volumes that are made for claims."""

from typing import Any

import msgspec

from podium.kubernetes.controllers.pod_templates import POD_CLAIM, device_claim, volume_claim
from podium.kubernetes.controllers.provisioning import provisioned_volume
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.storage import CSINode, PersistentVolumeClaim, StorageClass

WEB = ObjectMeta(name="web", namespace="ns", uid="uid-web")
TEMPLATE = {"metadata": {"labels": {"l": "v"}, "annotations": {"a": "b"}}, "spec": {"x": 1}}


def test_the_claim_of_an_ephemeral_volume_belongs_to_the_pod_and_has_all_of_its_template() -> None:
    claim = volume_claim(WEB, "scratch", TEMPLATE)
    metadata = claim["metadata"]
    assert metadata["name"] == "web-scratch"
    assert metadata["labels"] == {"l": "v"}
    assert metadata["annotations"] == {"a": "b"}
    assert metadata["ownerReferences"][0]["uid"] == "uid-web"
    assert claim["spec"] == {"x": 1}


def test_a_claim_of_devices_says_which_entry_of_the_pod_it_is_for() -> None:
    metadata = device_claim(WEB, "gpu", TEMPLATE)["metadata"]
    assert metadata["generateName"] == "web-gpu-"
    assert metadata["annotations"] == {"a": "b", POD_CLAIM: "gpu"}


def volume(provisioner: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="c", namespace="ns", uid="u"))
    entry = StorageClass(metadata=ObjectMeta(name="fast"), provisioner=provisioner)
    drivers = [{"name": "csi.example.com", "topologyKeys": ["zone", "rack"]}]
    csi_node = msgspec.convert({"spec": {"drivers": drivers}}, CSINode)
    return provisioned_volume(claim, entry, labels, csi_node)


def test_a_volume_reaches_what_shares_the_nodes_values_of_its_drivers_keys() -> None:
    (term,) = volume("csi.example.com", {"zone": "a"})["spec"]["nodeAffinity"]["required"][
        "nodeSelectorTerms"
    ]
    assert term == {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    assert "nodeAffinity" not in volume("csi.example.com")["spec"]


def test_a_provisioner_that_is_no_csi_driver_makes_volumes_of_another_kind() -> None:
    assert volume("csi.example.com")["spec"]["csi"]["driver"] == "csi.example.com"
    assert "hostPath" in volume("rancher.io/local-path")["spec"]
