"""In-tree volumes as the CSI volumes that took their place.

The cloud disks that Kubernetes once served itself are served by CSI drivers today. A volume written
in the old form still has to be counted against the driver's limit and matched with the driver's
topology labels, so scheduling needs its CSI identity (driver and handle) and its node affinity in
the driver's keys. Facts as in `staging/src/k8s.io/csi-translation-lib`.

Contract: a volume without an in-tree source has no plugin; one that cannot be translated raises
TranslationError with upstream's text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeSpec
from podium.kubernetes.kinds.volumes import (
    AWSElasticBlockStoreSource,
    AzureDiskSource,
    AzureFileSource,
    GCEPersistentDiskSource,
    Volume,
)
from podium.kubernetes.rules.labels import IN

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ZONE_SEPARATOR = "__"

_UNKNOWN = "UNSPECIFIED"
_EBS_SCHEME = "aws://"
_EBS_ID = re.compile(r"vol-[^/]*")
_AZURE_ACCOUNT = re.compile(r"azure-storage-account-(.+)-secret")
_AZURE_RESOURCE_GROUP = "kubernetes.io/azure-file-resource-group"


class TranslationError(ValueError):
    """A volume that has no CSI form; the text says what is wrong with it."""


class CsiVolume(NamedTuple):
    """What identifies a volume to everybody: the driver that serves it and its handle there."""

    driver: str
    handle: str

    @property
    def key(self) -> str:
        return f"{self.driver}/{self.handle}"


class InTreePlugin(NamedTuple):
    """One in-tree volume plugin and its successor.

    `source` is the attribute that holds its volumes; with a `zone_key` the node affinity of its
    volumes is rewritten to that key; `migrates` tells the plugins that kube-scheduler treats as
    replaced, the others are merely translatable.
    """

    name: str
    driver: str
    source: str
    zone_key: str | None = None
    migrates: bool = True


AWS_EBS = InTreePlugin(
    "kubernetes.io/aws-ebs",
    "ebs.csi.aws.com",
    "aws_elastic_block_store",
    "topology.ebs.csi.aws.com/zone",
)
GCE_PD = InTreePlugin(
    "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gce_persistent_disk", "topology.gke.io/zone"
)
AZURE_DISK = InTreePlugin("kubernetes.io/azure-disk", "disk.csi.azure.com", "azure_disk")
CINDER = InTreePlugin(
    "kubernetes.io/cinder",
    "cinder.csi.openstack.org",
    "cinder",
    "topology.cinder.csi.openstack.org/zone",
)
PORTWORX = InTreePlugin("kubernetes.io/portworx-volume", "pxd.portworx.com", "portworx_volume")
AZURE_FILE = InTreePlugin(
    "kubernetes.io/azure-file", "file.csi.azure.com", "azure_file", migrates=False
)
VSPHERE = InTreePlugin(
    "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphere_volume", migrates=False
)
IN_TREE_PLUGINS = (AWS_EBS, GCE_PD, AZURE_DISK, CINDER, PORTWORX, AZURE_FILE, VSPHERE)
PLUGIN_NAMED = {plugin.name: plugin for plugin in IN_TREE_PLUGINS}


def in_tree_plugin(holder: Volume | PersistentVolumeSpec) -> InTreePlugin | None:
    """The in-tree plugin whose volume this is, if it has a successor."""
    for plugin in IN_TREE_PLUGINS:
        if getattr(holder, plugin.source) is not None:
            return plugin
    return None


def translate_inline(volume: Volume, namespace: str) -> CsiVolume | None:
    """The CSI identity of a volume written into a pod; None if it has no successor."""
    plugin = in_tree_plugin(volume)
    if plugin is None:
        return None
    source = getattr(volume, plugin.source)
    match source:
        case GCEPersistentDiskSource():
            return CsiVolume(plugin.driver, _gce_handle(source, ""))
        case AzureFileSource():
            handle = _azure_file_handle(source, "", volume.name, namespace or "default")
            return CsiVolume(plugin.driver, handle)
        case _:
            return CsiVolume(plugin.driver, _plain_handle(source))


def translate_volume(volume: PersistentVolume) -> CsiVolume | None:
    """The CSI identity of an in-tree PersistentVolume; None if it has no successor."""
    plugin = in_tree_plugin(volume.spec)
    if plugin is None:
        return None
    source = getattr(volume.spec, plugin.source)
    labels = volume.metadata.labels or {}
    match source:
        case GCEPersistentDiskSource():
            zones = labels.get(BETA_ZONE) or labels.get(ZONE, "")
            return CsiVolume(plugin.driver, _gce_handle(source, zones))
        case AzureFileSource():
            group = (volume.metadata.annotations or {}).get(_AZURE_RESOURCE_GROUP, "")
            namespace = _secret_namespace(volume, source)
            handle = _azure_file_handle(source, group, volume.metadata.name, namespace)
            return CsiVolume(plugin.driver, handle)
        case _:
            return CsiVolume(plugin.driver, _plain_handle(source))


def translated_affinity(volume: PersistentVolume) -> NodeSelector | None:
    """The required node affinity of an in-tree PersistentVolume in its driver's topology keys."""
    translate_volume(volume)
    plugin = in_tree_plugin(volume.spec)
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    if plugin is None or plugin.zone_key is None:
        return required
    labels = volume.metadata.labels or {}
    zone, region = _topology_pair(required, labels)
    if _has_values(required, zone):
        required = _rename_keys(required, zone, plugin.zone_key)
    elif zone in labels:
        required = _with_zones(required, plugin.zone_key, labels[zone].split(ZONE_SEPARATOR))
    if region == BETA_REGION and _has_values(required, region):
        required = _rename_keys(required, region, REGION)
    return required


def _plain_handle(source: object) -> str:
    match source:
        case AWSElasticBlockStoreSource():
            return _ebs_handle(source.volume_id)
        case AzureDiskSource():
            if source.kind is not None and source.kind.lower() != "managed":
                raise TranslationError(f"kind({source.kind}) is not supported in csi migration")
            return source.disk_uri
        case _:
            attribute = "volume_path" if hasattr(source, "volume_path") else "volume_id"
            return str(getattr(source, attribute))


def _ebs_handle(written: str) -> str:
    """`aws://us-east-1a/vol-1` and `vol-1` are the same volume."""
    if not written.startswith(_EBS_SCHEME):
        return written
    address = re.split(r"[?#]", written.removeprefix(_EBS_SCHEME), maxsplit=1)[0]
    found = address.partition("/")[2].strip("/")
    if not _EBS_ID.fullmatch(found):
        raise TranslationError(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume"
            f" ({written})"
        )
    return found


def _gce_handle(source: GCEPersistentDiskSource, zones_label: str) -> str:
    zones = zones_label.split(ZONE_SEPARATOR)
    if len(zones) > 1:
        try:
            place = f"regions/{_gce_region(zones)}"
        except TranslationError as problem:
            raise TranslationError(f"failed to get region from zones: {problem}") from None
    else:
        place = f"zones/{zones[0] or _UNKNOWN}"
    return f"projects/{_UNKNOWN}/{place}/disks/{source.pd_name}"


def _gce_region(zones: list[str]) -> str:
    """us-central1 for us-central1-a and us-central1-b."""
    regions: set[str] = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                "zone in unexpected format, expected: {locale}-{region}-{zone}, got: " + zone
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(f"multiple or no regions gotten from zones, got: map[{listed}]")
    return regions.pop()


def _azure_file_handle(source: AzureFileSource, group: str, name: str, namespace: str) -> str:
    found = _AZURE_ACCOUNT.search(source.secret_name)
    account = found.group(1) if found else source.secret_name
    return f"{group}#{account}#{source.share_name}#{name}#{namespace}"


def _secret_namespace(volume: PersistentVolume, source: AzureFileSource) -> str:
    claim = volume.spec.claim_ref
    namespace = source.secret_namespace
    if namespace is None:
        namespace = claim.namespace if claim is not None else ""
    if not namespace:
        raise TranslationError(
            "could not find a secret namespace in PersistentVolumeSource or ClaimRef"
        )
    return namespace


def _topology_pair(required: NodeSelector | None, labels: Mapping[str, str]) -> tuple[str, str]:
    """The zone and region keys a volume uses: the affinity decides, then the labels."""
    keys = {expression.key for expression in _expressions(required)}
    for known in (keys, labels):
        if ZONE in known:
            return ZONE, REGION
        if BETA_ZONE in known:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _expressions(required: NodeSelector | None) -> Iterator[NodeSelectorRequirement]:
    if required is not None:
        for term in required.node_selector_terms or ():
            yield from term.match_expressions or ()


def _has_values(required: NodeSelector | None, key: str) -> bool:
    return any(e.key == key and e.values for e in _expressions(required))


def _rename_keys(required: NodeSelector | None, old: str, new: str) -> NodeSelector | None:
    def rename(term: NodeSelectorTerm) -> NodeSelectorTerm:
        renamed = tuple(
            replace(e, key=new) if e.key == old else e for e in term.match_expressions or ()
        )
        return replace(term, match_expressions=renamed)

    return _each_term(required, rename)


def _with_zones(required: NodeSelector | None, key: str, zones: list[str]) -> NodeSelector | None:
    values = tuple(sorted({zone.strip() for zone in zones} - {""}))
    if not values:
        return required
    extra = NodeSelectorRequirement(key=key, operator=IN, values=values)

    def extend(term: NodeSelectorTerm) -> NodeSelectorTerm:
        return replace(term, match_expressions=(*(term.match_expressions or ()), extra))

    if required is None or not required.node_selector_terms:
        required = NodeSelector(node_selector_terms=(NodeSelectorTerm(),))
    return _each_term(required, extend)


def _each_term(
    required: NodeSelector | None, change: Callable[[NodeSelectorTerm], NodeSelectorTerm]
) -> NodeSelector | None:
    if required is None:
        return None
    return replace(
        required, node_selector_terms=tuple(map(change, required.node_selector_terms or ()))
    )
