"""Defaults of volumes: file modes, in-tree drivers, claims made from templates.

A volume of a pod and the source of a PersistentVolume share most of their kinds of source, so
`set_source_defaults` serves both.
"""

from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.defaulting.containers import round_resources, set_field_reference
from podium.kubernetes.defaulting.images import pull_policy

_FILE_MODE: Final = 0o644
_TOKEN_LIFE_S: Final = 3600

_SOURCE_DEFAULTS: Final[Mapping[str, Mapping[str, JsonValue]]] = {
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def set_volume_defaults(volume: JsonObject) -> None:
    """A volume that names no source is an empty directory."""
    if all(value is None or name == "name" for name, value in volume.items()):
        volume["emptyDir"] = {}
        return
    for name in ("secret", "configMap"):
        source = volume.get(name)
        if source is not None:
            _set_mode(source)
    downward = volume.get("downwardAPI")
    if downward is not None:
        _set_mode(downward)
        _set_items(downward)
    if volume.get("projected") is not None:
        _set_projected(volume["projected"])
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference") or "")
    ephemeral = volume.get("ephemeral")
    if ephemeral is not None and ephemeral.get("volumeClaimTemplate") is not None:
        template = ephemeral["volumeClaimTemplate"]
        if template.get("metadata") is None:
            template["metadata"] = {}
        if template.get("spec") is None:
            template["spec"] = {}
        set_claim_spec_defaults(template["spec"])
    set_source_defaults(volume)


def set_source_defaults(sources: JsonObject) -> None:
    """Defaults of the kinds of source that pods' volumes and persistent volumes share."""
    host_path = sources.get("hostPath")
    if host_path is not None and host_path.get("type") is None:
        host_path["type"] = ""
    for name, defaults in _SOURCE_DEFAULTS.items():
        source = sources.get(name)
        if source is not None:
            for field, value in defaults.items():
                # `readOnly` is the one field that may be written as false on purpose.
                if source.get(field) in (None, ""):
                    source[field] = value


def set_claim_spec_defaults(spec: JsonObject) -> None:
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    if spec.get("resources") is None:
        spec["resources"] = {}
    round_resources(spec["resources"])


def _set_mode(source: JsonObject) -> None:
    if source.get("defaultMode") is None:
        source["defaultMode"] = _FILE_MODE


def _set_items(source: JsonObject) -> None:
    for item in source.get("items") or ():
        if item.get("fieldRef") is not None:
            set_field_reference(item["fieldRef"])


def _set_projected(projected: JsonObject) -> None:
    _set_mode(projected)
    for source in projected.get("sources") or ():
        if source.get("downwardAPI") is not None:
            _set_items(source["downwardAPI"])
        token = source.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = _TOKEN_LIFE_S
