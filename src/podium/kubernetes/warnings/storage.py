"""What the writers of volumes, claims, storage classes and CSI objects should know of."""

from collections.abc import Iterator, Mapping
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.warnings import node_labels
from podium.kubernetes.warnings.pods import about_claim_spec

_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_OLD_CLASS_TOLD: Final = 'deprecated since v1.8; use "storageClassName" attribute instead'
_OLD_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_VOLUME_PLUGINS: Final[Mapping[str, str]] = {
    "cephfs": "cephfs: deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "storageos": "storageOS: deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "rbd": "rbd: deprecated in v1.28, non-functional in v1.31+",
}


def about_volume(volume: JsonObject) -> Iterator[str]:
    annotations = volume["metadata"].get("annotations") or {}
    if _OLD_CLASS in annotations:
        yield f"metadata.annotations[{_OLD_CLASS}]: {_OLD_CLASS_TOLD}"
    if _OLD_OPTIONS in annotations:
        told = 'deprecated since v1.31; use "mountOptions" attribute instead'
        yield f"metadata.annotations[{_OLD_OPTIONS}]: {told}"
    spec: JsonObject = volume.get("spec") or {}
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
            " Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for number, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = f"spec.nodeAffinity.required.nodeSelectorTerms[{number}]"
        yield from node_labels.about_term(term, where)
    for field, told in _VOLUME_PLUGINS.items():
        if spec.get(field) is not None:
            yield f"spec.{told}"


def about_claim(claim: JsonObject) -> Iterator[str]:
    if _OLD_CLASS in (claim["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{_OLD_CLASS}]: {_OLD_CLASS_TOLD}"
    yield from about_claim_spec(claim.get("spec") or {}, "spec")


def about_storage_class(storage_class: JsonObject) -> Iterator[str]:
    for number, topology in enumerate(storage_class.get("allowedTopologies") or ()):
        for place, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            better = node_labels.replacement_for(expression.get("key") or "")
            if better is not None:
                at = f"allowedTopologies[{number}].matchLabelExpressions[{place}].key"
                yield f"{at}: {better}"


def about_capacity(capacity: JsonObject) -> Iterator[str]:
    return node_labels.about_selector(capacity.get("nodeTopology"), "nodeTopology")


def about_tokens(driver: JsonObject) -> Iterator[str]:
    spec: JsonObject = driver.get("spec") or {}
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to"
            " true to prevent possible logging of tokens in volume attributes"
        )


def about_changed_tokens(new: JsonObject, old: JsonObject) -> Iterator[str]:
    if _tokens(new) != _tokens(old):
        yield from about_tokens(new)


def _tokens(driver: JsonObject) -> JsonValue:
    return (driver.get("spec") or {}).get("tokenRequests")
