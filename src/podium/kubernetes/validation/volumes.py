"""Volumes of pods, and claims on storage.

A volume has one source, with the fields that the source cannot do without.

The spec of a claim is in PersistentVolumeClaims and in their templates.
"""

from collections.abc import Callable, Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.volumes import ephemeral_claim_name
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.rules.quantity import is_negative, nano
from podium.kubernetes.validation.environment import (
    SHOWN_IN_FILES,
    check_field_reference,
    check_resource_reference,
)
from podium.kubernetes.validation.field_values import (
    check_items,
    check_local,
    check_mode,
    check_no_backsteps,
)
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_annotations,
    check_each,
    check_labels,
)
from podium.kubernetes.validation.selectors import check_label_selector

_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_MAX_DRIVER_NAME: Final = 63
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")

Check = Callable[[Errors, JsonObject, str], None]


def check_volumes(
    errors: Errors, volumes: list[JsonObject], pod_name: str, path: str
) -> Mapping[str, JsonObject]:
    """The volumes that containers can refer to, by name; those with errors are not among them.

    `pod_name` is empty where the name of the pod is not known, as in templates.
    """
    usable: dict[str, JsonObject] = {}
    made = {
        ephemeral_claim_name(pod_name, volume.get("name") or "")
        for volume in volumes
        if pod_name and volume.get("ephemeral") is not None
    }
    for index, volume in enumerate(volumes):
        at, name = f"{path}[{index}]", volume.get("name") or ""
        found: Errors = []
        _check_source(found, volume, pod_name, at)
        if not name:
            found.append(required(f"{at}.name"))
        else:
            check_each(found, label_problems(name), name, f"{at}.name")
        if name in usable:
            found.append(duplicate(f"{at}.name", name))
        if not found:
            usable[name] = volume
        errors.extend(found)
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in made:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim, detail))
    return usable


def _check_source(errors: Errors, volume: JsonObject, pod_name: str, path: str) -> None:
    given = False
    for kind, check in _SOURCES.items():
        source = volume.get(kind)
        if source is None:
            continue
        if given:
            detail = "may not specify more than 1 volume type"
            errors.append(forbidden(f"{path}.{kind}", detail))
            continue
        given = True
        if kind == "image" and pod_name and not source.get("reference"):
            errors.append(required(f"{path}.image.reference"))
        check(errors, source, f"{path}.{kind}")
        name = volume.get("name") or ""
        if kind == "ephemeral" and pod_name and name:
            claim = f"{pod_name}-{name}"
            for problem in subdomain_problems(claim):
                detail = f'PVC name "{claim}": {problem}'
                errors.append(invalid(f"{path}.name", name, detail))
    if not given:
        errors.append(required(path, "must specify a volume type"))


def _empty_dir(errors: Errors, source: JsonObject, path: str) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and is_negative(limit):
        detail = "SizeLimit field must be a valid resource quantity"
        errors.append(forbidden(f"{path}.sizeLimit", detail))


def check_host_path(errors: Errors, source: JsonObject, path: str) -> None:
    target, kind = source.get("path") or "", source.get("type")
    if not target:
        errors.append(required(f"{path}.path"))
        return
    check_no_backsteps(errors, target, f"{path}.path")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_PATH_TYPES))


def _secret(errors: Errors, source: JsonObject, path: str) -> None:
    if not source.get("secretName"):
        errors.append(required(f"{path}.secretName"))
    check_mode(errors, source.get("defaultMode"), f"{path}.defaultMode")
    check_items(errors, source.get("items") or [], f"{path}.items")


def _config_map(errors: Errors, source: JsonObject, path: str) -> None:
    if not source.get("name"):
        errors.append(required(f"{path}.name"))
    check_mode(errors, source.get("defaultMode"), f"{path}.defaultMode")
    check_items(errors, source.get("items") or [], f"{path}.items")


def _claim(errors: Errors, source: JsonObject, path: str) -> None:
    if not source.get("claimName"):
        errors.append(required(f"{path}.claimName"))


def check_nfs(errors: Errors, source: JsonObject, path: str) -> None:
    if not source.get("server"):
        errors.append(required(f"{path}.server"))
    target = source.get("path") or ""
    if not target:
        errors.append(required(f"{path}.path"))
    if not target.startswith("/"):
        errors.append(invalid(f"{path}.path", target, "must be an absolute path"))


def _downward(errors: Errors, source: JsonObject, path: str) -> None:
    check_mode(errors, source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items") or ():
        _downward_file(errors, item, path)


def _downward_file(errors: Errors, item: JsonObject, path: str) -> None:
    target, field, resource = item.get("path") or "", item.get("fieldRef"), item.get(_RESOURCE)
    if not target:
        errors.append(required(f"{path}.path"))
    check_local(errors, target, f"{path}.path")
    if field is not None:
        check_field_reference(errors, field, SHOWN_IN_FILES, f"{path}.fieldRef")
        if resource is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", detail))
    elif resource is not None:
        check_resource_reference(errors, resource, f"{path}.{_RESOURCE}", in_file=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    check_mode(errors, item.get("mode"), f"{path}.mode")


_RESOURCE: Final = "resourceFieldRef"


def _check_projected(errors: Errors, projected: JsonObject, path: str) -> None:
    check_mode(errors, projected.get("defaultMode"), f"{path}.defaultMode")
    taken: set[str] = set()
    for index, source in enumerate(projected.get("sources") or ()):
        at = f"{path}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if source.get(kind) is not None:
                _projected_items(errors, source[kind], taken, path, f"{at}.{kind}")
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _downward_file(errors, item, f"{at}.downwardAPI")
            _take_path(errors, item.get("path"), item.get("path"), taken, path)
        if source.get("serviceAccountToken") is not None:
            _projected_token(errors, source["serviceAccountToken"], path, at)
        if sum(value is not None for value in source.values()) > 1:
            detail = "may not specify more than 1 volume type per source"
            errors.append(forbidden(at, detail))


def _projected_items(
    errors: Errors, source: JsonObject, taken: set[str], path: str, at: str
) -> None:
    if not source.get("name"):
        errors.append(required(f"{at}.name"))
    items = source.get("items") or []
    check_items(errors, items, f"{at}.items")
    for item in items:
        _take_path(errors, item.get("path"), source.get("name") or "", taken, path)


def _projected_token(errors: Errors, token: JsonObject, path: str, at: str) -> None:
    life_s, target = token.get("expirationSeconds") or 0, token.get("path") or ""
    field = f"{at}.serviceAccountToken.expirationSeconds"
    if life_s < 600:
        errors.append(invalid(field, life_s, "may not specify a duration less than 10 minutes"))
    if life_s > 1 << 32:
        detail = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(field, life_s, detail))
    if not target:
        errors.append(required(f"{path}.path"))
    else:
        check_local(errors, target, f"{path}.path")


def _take_path(
    errors: Errors, target: str | None, told: str | None, taken: set[str], path: str
) -> None:
    if target:
        if target in taken:
            errors.append(invalid(path, told, "conflicting duplicate paths"))
        taken.add(target)


def check_driver_name(errors: Errors, name: str, path: str) -> None:
    """The name of a CSI driver: a domain name in any case."""
    if not name:
        errors.append(required(path))
        return
    if len(name.encode()) > _MAX_DRIVER_NAME:
        errors.append(too_long(path, _MAX_DRIVER_NAME))
    check_each(errors, subdomain_problems(name.lower()), name, path)


def _csi(errors: Errors, source: JsonObject, path: str) -> None:
    check_driver_name(errors, source.get("driver") or "", f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name") or ""
        if not name:
            errors.append(required(f"{path}.nodePublishSecretRef.name"))
        else:
            check_each(errors, subdomain_problems(name), name, f"{path}.name")


def _ephemeral(errors: Errors, source: JsonObject, path: str) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        errors.append(required(f"{path}.volumeClaimTemplate"))
    else:
        check_claim_template(errors, template, f"{path}.volumeClaimTemplate")


def _image(errors: Errors, source: JsonObject, path: str) -> None:
    policy = source.get("pullPolicy") or ""
    if policy not in _PULL_POLICIES:
        at = f"{path}.pullPolicy"
        errors.append(not_supported(at, policy, _PULL_POLICIES) if policy else required(at))


def _with(*fields: str, told: str = "") -> Check:
    """Sources of drivers that left Kubernetes: the scheduler knows them, nothing mounts them.

    Only what they cannot do without is looked for; `told` is another name in the path.
    """

    def check(errors: Errors, source: JsonObject, path: str) -> None:
        at = f"{path.rpartition('.')[0]}.{told}" if told else path
        errors.extend(required(f"{at}.{field}") for field in fields if not source.get(field))

    return check


_SOURCES: Final[Mapping[str, Check]] = {
    "emptyDir": _empty_dir,
    "hostPath": check_host_path,
    "gitRepo": _with("repository"),
    "gcePersistentDisk": _with("pdName", told="persistentDisk"),
    "awsElasticBlockStore": _with("volumeID"),
    "secret": _secret,
    "nfs": check_nfs,
    "iscsi": _with("targetPortal", "iqn"),
    "glusterfs": _with("endpoints", "path"),
    "flocker": _with(),
    "persistentVolumeClaim": _claim,
    "rbd": _with("monitors", "image"),
    "cinder": _with("volumeID"),
    "cephfs": _with("monitors"),
    "quobyte": _with(),
    "downwardAPI": _downward,
    "fc": _with(),
    "flexVolume": _with("driver"),
    "configMap": _config_map,
    "azureFile": _with("secretName", "shareName"),
    "vsphereVolume": _with("volumePath"),
    "photonPersistentDisk": _with("pdID"),
    "portworxVolume": _with("volumeID"),
    "azureDisk": _with("diskName", "diskURI"),
    "storageos": _with("volumeName"),
    "projected": _check_projected,
    "scaleIO": _with("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}


ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

_POSITIVE: Final = "must be greater than zero"
_TEMPLATE_FIELDS: Final = ("annotations", "labels")


def check_claim_template(errors: Errors, template: JsonObject, path: str) -> None:
    """A claim that a pod brings with it."""
    check_template_metadata(errors, template.get("metadata") or {}, f"{path}.metadata")
    check_claim_spec(errors, template.get("spec") or {}, f"{path}.spec")


def check_template_metadata(errors: Errors, metadata: JsonObject, path: str) -> None:
    """Of the metadata of what will be made, only labels and annotations can be given."""
    annotations, labels = metadata.get("annotations"), metadata.get("labels")
    if annotations:
        check_annotations(errors, annotations, f"{path}.annotations")
    if labels:
        check_labels(errors, labels, f"{path}.labels")
    for field, value in metadata.items():
        if field not in _TEMPLATE_FIELDS and value:
            errors.append(forbidden(f"{path}.{field}", "cannot be set"))


def check_claim_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    modes = spec.get("accessModes") or []
    if not modes:
        detail = "at least 1 access mode is required"
        errors.append(required(f"{path}.accessModes", detail))
    check_label_selector(errors, spec.get("selector"), f"{path}.selector")
    check_access_modes(errors, modes, path)
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        errors.append(required(f"{path}.resources[storage]"))
    elif nano(storage) <= 0:
        errors.append(invalid(f"{path}.resources[storage]", storage, _POSITIVE))
    _check_class(errors, spec.get("storageClassName"), f"{path}.storageClassName")
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    for field in ("dataSource", "dataSourceRef"):
        if spec.get(field) is not None:
            _check_data_source(errors, spec[field], f"{path}.{field}")
    _check_same_source(errors, spec.get("dataSource"), spec.get("dataSourceRef"), path)
    _check_class(errors, spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName")


def _check_same_source(
    errors: Errors, source: JsonObject | None, reference: JsonObject | None, path: str
) -> None:
    if source is None or reference is None:
        return
    # upstream: the value that is shown is a path, and paths are shown empty.
    if reference.get("namespace"):
        detail = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(invalid(path, {}, detail))
    elif source.get("apiGroup") != reference.get("apiGroup") or any(
        (source.get(field) or "") != (reference.get(field) or "") for field in ("kind", "name")
    ):
        errors.append(invalid(path, {}, "must match dataSourceRef"))


def check_access_modes(errors: Errors, modes: list[str], path: str) -> None:
    for mode in modes:
        if mode not in ACCESS_MODES:
            errors.append(not_supported(f"{path}.accessModes", mode, ACCESS_MODES))
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        detail = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(f"{path}.accessModes", detail))


def _check_class(errors: Errors, name: str | None, path: str) -> None:
    if name:
        check_each(errors, subdomain_problems(name), name, path)


def _check_data_source(errors: Errors, source: JsonObject, path: str) -> None:
    kind, group = source.get("kind") or "", source.get("apiGroup") or ""
    if not source.get("name"):
        errors.append(required(f"{path}.name"))
    if not kind:
        errors.append(required(f"{path}.kind"))
    if not group and kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, detail))
    if group:
        check_each(errors, subdomain_problems(group), group, f"{path}.apiGroup")
    namespace = source.get("namespace")
    if namespace:
        check_each(errors, label_problems(namespace), namespace, f"{path}.namespace")
