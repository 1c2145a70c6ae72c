"""Persistent volumes, claims on them, and their classes."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.rules.quantity import nano, value
from podium.kubernetes.validation.field_values import check_no_backsteps
from podium.kubernetes.validation.go_forms import difference, go_form, go_map
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.resource_amounts import is_native
from podium.kubernetes.validation.selectors import check_node_selector, check_topology_terms
from podium.kubernetes.validation.volumes import (
    VOLUME_MODES,
    check_access_modes,
    check_claim_spec,
    check_driver_name,
    check_host_path,
    check_nfs,
)

_POSITIVE: Final = "must be greater than zero"
_RECLAIM: Final = ("Delete", "Recycle", "Retain")
_CLASS_RECLAIM: Final = ("Delete", "Retain")
_BINDING: Final = ("Immediate", "WaitForFirstConsumer")
_RESIZE_STATES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_MAX_PARAMETERS: Final = 512
_MAX_PARAMETER_SIZE: Final = 256 * 1024
_NO_SOURCES: Final = frozenset(
    {
        "capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName",
        "mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName",
    }
)  # fmt: skip
_SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
_CLAIM_REFUSAL: Final = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
    "bound claims"
)


def volume_create_errors(volume: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(volume), False, subdomain_problems)
    _check_volume_spec(errors, volume.get("spec") or {}, "spec")
    return errors


def volume_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = volume_create_errors(new)
    errors.extend(volume_create_errors(new))  # upstream: really told twice
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    source, earlier = _source(spec), _source(before)
    if source != earlier:
        changed = _source_difference(earlier, source)
        detail = f"spec.persistentvolumesource is immutable after creation\n{changed}"
        errors.append(forbidden("spec.persistentvolumesource", detail))
    if spec.get("volumeMode") != before.get("volumeMode"):
        errors.append(immutable("volumeMode", spec.get("volumeMode")))
    kept = before.get("nodeAffinity")
    if kept is not None and spec.get("nodeAffinity") != kept:
        shown = go_form("core", "VolumeNodeAffinity", spec.get("nodeAffinity"))
        detail = "field is immutable, except for updating from beta label to GA"
        errors.append(invalid("nodeAffinity", shown, detail))
    had_class = before.get("volumeAttributesClassName") is not None
    if had_class and spec.get("volumeAttributesClassName") is None:
        detail = "update from non-nil value to nil is forbidden"
        errors.append(forbidden("spec.volumeAttributesClassName", detail))
    return errors


def volume_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    return built_in_meta_update_errors(meta_of(new), meta_of(old))


def _source(spec: JsonObject) -> JsonObject:
    return {name: value for name, value in spec.items() if name not in _NO_SOURCES}


def _source_difference(old: JsonObject, new: JsonObject) -> str:
    return difference("core", "PersistentVolumeSpec", old, new, without=_NO_SOURCES)


def _check_volume_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes"))
    check_access_modes(errors, modes, path)
    capacity: JsonObject = spec.get("capacity") or {}
    if not capacity:
        errors.append(required(f"{path}.capacity"))
    if "storage" not in capacity or len(capacity) > 1:
        shown = spec.get("capacity") and dict(sorted(capacity.items()))
        errors.append(not_supported(f"{path}.capacity", shown, ("storage",)))
    for name, amount in sorted(capacity.items()):
        _check_size(errors, amount, f"{path}.capacity[{name}]")
        if nano(amount) <= 0:
            errors.append(invalid(f"{path}.capacity[{name}]", amount, _POSITIVE))
    policy = spec.get("persistentVolumeReclaimPolicy") or ""
    if policy and policy not in _RECLAIM:
        at = f"{path}.persistentVolumeReclaimPolicy"
        errors.append(not_supported(at, policy, _RECLAIM))
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        wanted = affinity.get("required")
        if wanted is None:
            detail = "must specify required node constraints"
            errors.append(required(f"{path}.nodeAffinity.required", detail))
        else:
            check_node_selector(errors, wanted, f"{path}.nodeAffinity.required")
    _check_volume_source(errors, spec, path)
    class_name = spec.get("storageClassName")
    if class_name:
        at = f"{path}.storageClassName"
        check_each(errors, subdomain_problems(class_name), class_name, at)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    _check_attributes_class(errors, spec, path)


def _check_attributes_class(errors: Errors, spec: JsonObject, path: str) -> None:
    name = spec.get("volumeAttributesClassName")
    if name is None:
        return
    at = f"{path}.volumeAttributesClassName"
    if not name:
        errors.append(required(at, "an empty string is disallowed"))
    else:
        check_each(errors, subdomain_problems(name), name, at)
    if spec.get("csi") is None:
        detail = "has to be specified when using volumeAttributesClassName"
        errors.append(required(f"{path}.csi", detail))


def _check_volume_source(errors: Errors, spec: JsonObject, path: str) -> None:
    kinds = [kind for kind, source in _source(spec).items() if source is not None]
    if not kinds:
        errors.append(required(path, "must specify a volume type"))
    for kind in kinds[1:]:
        detail = "may not specify more than 1 volume type"
        errors.append(forbidden(f"{path}.{kind}", detail))
    if "hostPath" in kinds[:1]:
        check_host_path(errors, spec["hostPath"], f"{path}.hostPath")
        if spec.get("persistentVolumeReclaimPolicy") == "Recycle" and not (
            (spec["hostPath"].get("path") or "").strip("/")
        ):
            detail = "may not be 'recycle' for a hostPath mount of '/'"
            errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", detail))
    if "nfs" in kinds[:1]:
        check_nfs(errors, spec["nfs"], f"{path}.nfs")
    if "local" in kinds[:1]:
        target = spec["local"].get("path") or ""
        if not target:
            errors.append(required(f"{path}.local.path"))
        else:
            check_no_backsteps(errors, target, f"{path}.local.path")
        if spec.get("nodeAffinity") is None:
            detail = "Local volume requires node affinity"
            errors.append(required(f"{path}.nodeAffinity", detail))
    if "csi" in kinds[:1]:
        _check_csi(errors, spec["csi"], f"{path}.csi")


def _check_csi(errors: Errors, source: JsonObject, path: str) -> None:
    check_driver_name(errors, source.get("driver") or "", f"{path}.driver")
    if not source.get("volumeHandle"):
        errors.append(required(f"{path}.volumeHandle"))
    for field in _SECRETS:
        secret = source.get(field)
        if secret is None:
            continue
        for part, problems in (("name", subdomain_problems), ("namespace", label_problems)):
            text = secret.get(part) or ""
            if not text:
                errors.append(required(f"{path}.{field}.{part}"))
            else:
                check_each(errors, problems(text), text, f"{path}.{field}.{part}")


def claim_create_errors(claim: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(claim), True, subdomain_problems)
    check_claim_spec(errors, claim.get("spec") or {}, "spec")
    return errors


def claim_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    errors.extend(claim_create_errors(new))
    spec: JsonObject = dict(new.get("spec") or {})
    before: JsonObject = dict(old.get("spec") or {})
    size, earlier = _storage(spec), _storage(before)
    if not before.get("volumeName") and spec.get("volumeName"):
        before["volumeName"] = spec["volumeName"]
    if before.get("storageClassName") is None and spec.get("storageClassName") is not None:
        del spec["storageClassName"]
    if (new.get("status") or {}).get("phase") == "Bound":
        _keep_size(spec, earlier)
        for field in ("volumeAttributesClassName",):
            spec.pop(field, None)
            if field in before:
                spec[field] = before[field]
    if spec != before:
        shown = difference("core", "PersistentVolumeClaimSpec", before, spec)
        errors.append(forbidden("spec", f"{_CLAIM_REFUSAL}\n{shown}"))
    if nano(size) < nano(earlier):
        bound = ((old.get("status") or {}).get("capacity") or {}).get("storage") or "0"
        if nano(size) <= nano(bound):
            detail = "field can not be less than status.capacity"
            errors.append(forbidden("spec.resources.requests.storage", detail))
    if (new.get("spec") or {}).get("volumeMode") != before.get("volumeMode"):
        errors.append(immutable("volumeMode", (new.get("spec") or {}).get("volumeMode")))
    _check_attributes_class_change(errors, new, old)
    return errors


def _check_attributes_class_change(errors: Errors, new: JsonObject, old: JsonObject) -> None:
    """A class that has been applied to a volume can be replaced, not taken away."""
    name = (new.get("spec") or {}).get("volumeAttributesClassName")
    if name == (old.get("spec") or {}).get("volumeAttributesClassName"):
        return
    if not name and (old.get("status") or {}).get("currentVolumeAttributesClassName") is not None:
        detail = (
            f"update to {'nil' if name is None else 'empty string'} is forbidden when "
            "status.currentVolumeAttributesClassName is not nil"
        )
        errors.append(forbidden("spec.volumeAttributesClassName", detail))


def _storage(spec: JsonObject) -> str:
    return str(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")


def _keep_size(spec: JsonObject, size: str) -> None:
    resources: JsonObject = dict(spec.get("resources") or {})
    if resources.get("requests"):
        resources["requests"] = {**resources["requests"], "storage": size}
        spec["resources"] = resources


def claim_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    for name, amount in sorted((status.get("capacity") or {}).items()):
        _check_size(errors, amount, f"status.capacity[{name}]")
    at = "status.allocatedResourceStatuses"
    for name, state in sorted((status.get("allocatedResourceStatuses") or {}).items()):
        _is_storage(errors, name, at)
        if state not in _RESIZE_STATES:
            errors.append(not_supported(at, name, _RESIZE_STATES))  # upstream: the name is shown
    at = "status.allocatedResources"
    for name, amount in sorted((status.get("allocatedResources") or {}).items()):
        if _is_storage(errors, name, at):
            _check_size(errors, amount, f"{at}[{name}]")
    return errors


def _check_size(errors: Errors, amount: str, path: str) -> None:
    if value(amount) < 0:
        errors.append(invalid(path, value(amount), "must be a valid resource quantity"))


def _is_storage(errors: Errors, name: str, path: str) -> bool:
    """Whether a claim may have this resource: storage, or one of a name with a domain."""
    found = len(errors)
    check_label_key(errors, name, path)
    if len(errors) == found and is_native(name) and name != "storage":
        errors.append(not_supported(path, name, ("storage",)))
    return len(errors) == found


def class_create_errors(storage_class: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(storage_class), False, subdomain_problems)
    _check_driver(errors, storage_class.get("provisioner") or "", "provisioner")
    _check_parameters(errors, storage_class.get("parameters") or {})
    policy = storage_class.get("reclaimPolicy")
    if policy and policy not in _CLASS_RECLAIM:
        errors.append(not_supported("reclaimPolicy", policy, _CLASS_RECLAIM))
    mode = storage_class.get("volumeBindingMode")
    if mode not in _BINDING:
        errors.append(not_supported("volumeBindingMode", mode, _BINDING))
    topologies = storage_class.get("allowedTopologies")
    if topologies:
        check_topology_terms(errors, topologies, "allowedTopologies")
    return errors


def class_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = class_create_errors(new)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        value = new.get(field)
        if (value or None) != (old.get(field) or None):
            shown = go_map(value) if field == "parameters" else value
            errors.append(immutable(field, shown))
    return errors


def attributes_create_errors(attributes: JsonObject) -> Errors:
    """Of a VolumeAttributesClass."""
    errors = built_in_meta_errors(meta_of(attributes), False, subdomain_problems)
    _check_driver(errors, attributes.get("driverName") or "", "driverName")
    parameters = attributes.get("parameters") or {}
    _check_parameters(errors, parameters)
    if not parameters:
        errors.append(required("parameters", "must contain at least one key/value pair"))
    return errors


def attributes_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    for field in ("driverName", "parameters"):
        if (new.get(field) or None) != (old.get(field) or None):
            errors.append(forbidden(field, f"updates to {field} are forbidden."))
    errors.extend(attributes_create_errors(new))
    return errors


def _check_driver(errors: Errors, name: str, path: str) -> None:
    if not name:
        errors.append(required(path))
    else:
        check_label_key(errors, name.lower(), path)


def _check_parameters(errors: Errors, parameters: JsonObject) -> None:
    if len(parameters) > _MAX_PARAMETERS:
        errors.append(too_long("parameters", _MAX_PARAMETERS))
        return
    if "" in parameters:
        errors.append(invalid("parameters", "", "field can not be empty."))
    size = sum(len(key.encode()) + len(text.encode()) for key, text in parameters.items())
    if size > _MAX_PARAMETER_SIZE:
        errors.append(too_long("parameters", _MAX_PARAMETER_SIZE))
