"""What CSI drivers say about themselves, nodes and capacity, and volumes that are attached."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.rules.quantity import is_negative
from podium.kubernetes.validation.field_values import check_not_negative
from podium.kubernetes.validation.go_forms import go_form, go_selector
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.selectors import check_label_selector
from podium.kubernetes.validation.volumes import check_driver_name

_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES: Final = ("Persistent", "Ephemeral")
_MAX_NODE_ID: Final = 256
_SHORTEST_PERIOD_S: Final = 10
_SHORTEST_TOKEN_S: Final = 600


def node_create_errors(csi_node: JsonObject) -> Errors:
    """A CSINode."""
    errors = built_in_meta_errors(meta_of(csi_node), False, subdomain_problems)
    seen: set[str] = set()
    for index, driver in enumerate((csi_node.get("spec") or {}).get("drivers") or ()):
        at, name = f"spec.drivers[{index}]", driver.get("name") or ""
        check_driver_name(errors, name, f"{at}.name")
        node_id = driver.get("nodeID") or ""
        if not node_id:
            errors.append(required(f"{at}.nodeID"))
        if len(node_id) > _MAX_NODE_ID:
            detail = f"must be {_MAX_NODE_ID} characters or less"
            errors.append(invalid(f"{at}.nodeID", node_id, detail))
        check_not_negative(errors, driver.get("allocatable") or {}, ("count",), f"{at}.allocatable")
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        keys: set[str] = set()
        for key in driver.get("topologyKeys") or ():
            if not key:
                errors.append(required(at))
            if key in keys:
                errors.append(duplicate(at, key))
            keys.add(key)
            check_label_key(errors, key, at)
    return errors


def node_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = node_create_errors(new)
    drivers = {each.get("name"): each for each in (new.get("spec") or {}).get("drivers") or ()}
    for earlier in (old.get("spec") or {}).get("drivers") or ():
        driver = drivers.get(earlier.get("name"))
        if driver is not None and _without_limit(driver) != _without_limit(earlier):
            shown = {
                "Name": driver.get("name"),
                "NodeID": driver.get("nodeID"),
                "TopologyKeys": driver.get("topologyKeys"),
                "Allocatable": None,
            }
            errors.append(immutable("spec.drivers", shown))
    return errors


def _without_limit(driver: JsonObject) -> JsonObject:
    return {name: value for name, value in driver.items() if name != "allocatable"}


def driver_create_errors(driver: JsonObject) -> Errors:
    """A CSIDriver."""
    errors = built_in_meta_errors(meta_of(driver), False, subdomain_problems)
    _check_driver(errors, driver.get("spec") or {})
    return errors


def driver_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    _check_driver(errors, spec)
    if spec.get("attachRequired") != before.get("attachRequired"):
        # upstream: the field is told under another name than it has.
        errors.append(immutable("spec.attachedRequired", spec.get("attachRequired")))
    if spec.get("volumeLifecycleModes") != before.get("volumeLifecycleModes"):
        errors.append(immutable("spec.volumeLifecycleModes", spec.get("volumeLifecycleModes")))
    return errors


def _check_driver(errors: Errors, spec: JsonObject) -> None:
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _GROUP_POLICIES:
        errors.append(not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in _LIFECYCLES:
            errors.append(not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES))
    requests = spec.get("tokenRequests") or []
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        audience = request.get("audience") or ""
        if audience in audiences:
            errors.append(duplicate(f"spec.tokenRequests[{index}].audience", audience))
        audiences.add(audience)
    for index, request in enumerate(requests):
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < _SHORTEST_TOKEN_S:
            at = f"spec.tokenRequests[{index}].expirationSeconds"
            errors.append(invalid(at, seconds, "may not specify a duration less than 10 minutes"))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _SHORTEST_PERIOD_S:
        detail = f"must be greater than or equal to {_SHORTEST_PERIOD_S} seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, detail))
    if spec.get("serviceAccountTokenInSecrets") is not None and not requests:
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        value = spec["serviceAccountTokenInSecrets"]
        errors.append(invalid("spec.serviceAccountTokenInSecrets", value, detail))


def capacity_create_errors(capacity: JsonObject) -> Errors:
    """A CSIStorageCapacity."""
    errors = built_in_meta_errors(meta_of(capacity), True, subdomain_problems)
    check_label_selector(errors, capacity.get("nodeTopology"), "nodeTopology")
    name = capacity.get("storageClassName") or ""
    check_each(errors, subdomain_problems(name), name, "storageClassName")
    amount = capacity.get("capacity")
    if amount is not None and is_negative(amount):
        errors.append(invalid("capacity", amount, NOT_NEGATIVE))
    return errors


def capacity_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = capacity_create_errors(new)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    if new.get("nodeTopology") != old.get("nodeTopology"):
        errors.append(immutable("nodeTopology", go_selector(new.get("nodeTopology"))))
    if new.get("storageClassName") != old.get("storageClassName"):
        errors.append(immutable("storageClassName", new.get("storageClassName")))
    return errors


def attachment_create_errors(attachment: JsonObject) -> Errors:
    """A VolumeAttachment."""
    errors = built_in_meta_errors(meta_of(attachment), False, subdomain_problems)
    spec: JsonObject = attachment.get("spec") or {}
    check_driver_name(errors, spec.get("attacher") or "", "spec.attacher")
    source: JsonObject = spec.get("source") or {}
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        errors.append(required("spec.source", detail))
    elif inline is not None and name is not None:
        errors.append(forbidden("spec.source", detail))
    elif name == "":
        detail = "must specify non empty persistentVolumeName"
        errors.append(required("spec.source.persistentVolumeName", detail))
    node = spec.get("nodeName") or ""
    check_each(errors, subdomain_problems(node), node, "spec.nodeName")
    if name is not None:
        check_each(errors, subdomain_problems(name), name, "spec.source.persistentVolumeName")
    return errors


def attachment_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = attachment_create_errors(new)
    if new.get("spec") != old.get("spec"):
        errors.append(
            immutable("spec", go_form("storage", "VolumeAttachmentSpec", new.get("spec")))
        )
    return errors
