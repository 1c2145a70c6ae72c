"""In-tree volumes and the CSI volumes they stand for."""

from typing import Any

import msgspec
import pytest
from support.scheduler.plugins.storage_builders import expression, make_volume

from podium.kubernetes.kinds.volumes import Volume
from podium.scheduler.plugins.volumes.csi_translation import (
    CsiVolume,
    TranslationError,
    in_tree_plugin,
    translate_inline,
    translate_volume,
    translated_affinity,
)

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"


def inline(**source: Any) -> Volume:
    return msgspec.convert({"name": "vol", **source}, Volume)


@pytest.mark.parametrize(
    ("source", "driver", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://az/vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            "pd.csi.storage.gke.io",
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
        ),
        ({"azureDisk": {"diskName": "d", "diskURI": "/u"}}, "disk.csi.azure.com", "/u"),
        (
            {"azureDisk": {"diskName": "d", "diskURI": "/u", "kind": "managed"}},
            "disk.csi.azure.com",
            "/u",
        ),
        ({"cinder": {"volumeID": "v"}}, "cinder.csi.openstack.org", "v"),
        ({"portworxVolume": {"volumeID": "v"}}, "pxd.portworx.com", "v"),
        ({"vsphereVolume": {"volumePath": "[ds] v"}}, "csi.vsphere.vmware.com", "[ds] v"),
        (
            {"azureFile": {"secretName": "azure-storage-account-acc-secret", "shareName": "s"}},
            "file.csi.azure.com",
            "#acc#s#vol#ns",
        ),
        (
            {"azureFile": {"secretName": "mine", "shareName": "s"}},
            "file.csi.azure.com",
            "#mine#s#vol#ns",
        ),
    ],
)
def test_inline_volumes_have_the_identity_of_their_driver(
    source: dict[str, Any], driver: str, handle: str
) -> None:
    translated = translate_inline(inline(**source), "ns")
    assert translated == CsiVolume(driver, handle)
    assert translated.key == f"{driver}/{handle}"


@pytest.mark.parametrize(
    "source",
    [
        {"emptyDir": {}},
        {"csi": {"driver": "csi.example.com"}},
        {"rbd": {"monitors": ["m"], "image": "i"}},
    ],
)
def test_other_volumes_have_no_successor(source: dict[str, Any]) -> None:
    assert in_tree_plugin(inline(**source)) is None
    assert translate_inline(inline(**source), "ns") is None


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            {"awsElasticBlockStore": {"volumeID": "aws://az/disk-1"}},
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume"
            " (aws://az/disk-1)",
        ),
        (
            {"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Dedicated"}},
            "kind(Dedicated) is not supported in csi migration",
        ),
    ],
)
def test_what_cannot_be_translated_says_why(source: dict[str, Any], text: str) -> None:
    with pytest.raises(TranslationError) as caught:
        translate_inline(inline(**source), "ns")
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        ({}, "zones/UNSPECIFIED"),
        ({ZONE: "us-central1-a"}, "zones/us-central1-a"),
        ({BETA_ZONE: "us-central1-b", ZONE: "us-central1-a"}, "zones/us-central1-b"),
        ({ZONE: "us-central1-a__us-central1-b"}, "regions/us-central1"),
    ],
)
def test_a_gce_disk_is_known_by_its_zone_or_region(labels: dict[str, str], place: str) -> None:
    volume = make_volume("v", labels=labels, gcePersistentDisk={"pdName": "d"})
    translated = translate_volume(volume)
    assert translated is not None
    assert translated.handle == f"projects/UNSPECIFIED/{place}/disks/d"


@pytest.mark.parametrize(
    ("zones", "text"),
    [
        (
            "us-central1-a__eu-west1-b",
            "failed to get region from zones: multiple or no regions gotten from zones, got:"
            " map[eu-west1:{} us-central1:{}]",
        ),
        (
            "a__b",
            "failed to get region from zones: zone in unexpected format, expected:"
            " {locale}-{region}-{zone}, got: a",
        ),
    ],
)
def test_zones_of_different_regions_make_no_regional_disk(zones: str, text: str) -> None:
    volume = make_volume("v", labels={ZONE: zones}, gcePersistentDisk={"pdName": "d"})
    with pytest.raises(TranslationError) as caught:
        translate_volume(volume)
    assert str(caught.value) == text


def test_an_azure_share_needs_a_namespace_for_its_secret() -> None:
    share: dict[str, Any] = {"secretName": "x", "shareName": "s"}
    with pytest.raises(TranslationError, match="could not find a secret namespace"):
        translate_volume(make_volume("v", azureFile=share))
    claimed = make_volume("v", azureFile=share, claim={"name": "c", "namespace": "ns"})
    assert translate_volume(claimed) == CsiVolume("file.csi.azure.com", "#x#s#v#ns")
    named = make_volume(
        "v",
        azureFile={**share, "secretNamespace": "own"},
        metadata={"annotations": {"kubernetes.io/azure-file-resource-group": "rg"}},
    )
    assert translate_volume(named) == CsiVolume("file.csi.azure.com", "rg#x#s#v#own")


def test_a_csi_volume_needs_no_translation() -> None:
    volume = make_volume("v", csi=("d", "h"), nodes=["n"])
    assert translate_volume(volume) is None
    assert volume.spec.node_affinity is not None
    assert translated_affinity(volume) == volume.spec.node_affinity.required


def affinity(labels: dict[str, str] | None, *terms: Any, **source: Any) -> list[Any]:
    source = source or {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    found = translated_affinity(make_volume("v", labels=labels, terms=terms or None, **source))
    if found is None:
        return []
    return [
        [(e.key, e.operator, e.values) for e in term.match_expressions or ()]
        for term in found.node_selector_terms or ()
    ]


def term(*expressions: dict[str, Any]) -> dict[str, Any]:
    return {"matchExpressions": list(expressions)}


def test_a_zone_in_the_affinity_gets_the_key_of_the_driver() -> None:
    written = term(expression(ZONE, "In", "a"), expression("disk", "Exists"))
    assert affinity({ZONE: "b"}, written) == [
        [(EBS_ZONE, "In", ("a",)), ("disk", "Exists", ())],
    ]


def test_a_zone_label_is_added_to_every_term() -> None:
    assert affinity({ZONE: "b__a"}) == [[(EBS_ZONE, "In", ("a", "b"))]]
    assert affinity({BETA_ZONE: " a "}, term(expression("x", "Exists")), {}) == [
        [("x", "Exists", ()), (EBS_ZONE, "In", ("a",))],
        [(EBS_ZONE, "In", ("a",))],
    ]
    assert affinity({ZONE: "__"}) == []


def test_beta_keys_in_the_affinity_bring_the_stable_region_key() -> None:
    written = term(expression(BETA_ZONE, "In", "a"), expression(BETA_REGION, "In", "r"))
    assert affinity(None, written) == [[(EBS_ZONE, "In", ("a",)), (REGION, "In", ("r",))]]
    # With the stable pair in use, a beta region stays as it is.
    mixed = term(expression(ZONE, "In", "a"), expression(BETA_REGION, "In", "r"))
    assert affinity(None, mixed) == [[(EBS_ZONE, "In", ("a",)), (BETA_REGION, "In", ("r",))]]


def test_some_drivers_keep_the_affinity_as_it_is() -> None:
    written = term(expression(ZONE, "In", "a"))
    kept = affinity({ZONE: "b"}, written, azureDisk={"diskName": "d", "diskURI": "u"})
    assert kept == [[(ZONE, "In", ("a",))]]
