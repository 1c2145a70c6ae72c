"""The kinds of the group `resource.k8s.io`: devices and claims to them."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting import devices as defaults
from podium.kubernetes.kinds.record import (
    ANY_KEY,
    Cells,
    Kind,
    Printer,
    Validation,
    WriteStrategy,
    read_texts,
)
from podium.kubernetes.rules.field_errors import too_many
from podium.kubernetes.tables.cluster import NAME_AND_AGE
from podium.kubernetes.tables.printer import (
    age_of,
    columns_of,
    is_terminating,
    name_of,
    spec_of,
    status_of,
)
from podium.kubernetes.validation import claim_statuses, device_slices, devices
from podium.kubernetes.validation.device_slices import check_taint
from podium.kubernetes.validation.devices import check_pool_name
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_conditions,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.volumes import check_driver_name

_MAX_CONDITIONS: Final = 8
_GROUP: Final = "resource.k8s.io"


def _prepare_slice(resource_slice: JsonObject, now: str) -> None:
    for device in (resource_slice.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = now


def _prepare_slice_update(new: JsonObject, _old: JsonObject, now: str) -> None:
    _prepare_slice(new, now)


def _prepare_taint_rule(rule: JsonObject, now: str) -> None:
    rule["spec"].setdefault("taint", {}).setdefault("timeAdded", now)


def _prepare_taint_rule_update(new: JsonObject, old: JsonObject, now: str) -> None:
    """A taint that has another effect counts from now, unless its time was changed too."""
    _prepare_taint_rule(new, now)
    taint, before = new["spec"]["taint"], old["spec"]["taint"]
    is_other = taint.get("effect") != before.get("effect")
    if is_other and taint["timeAdded"] == before.get("timeAdded"):
        taint["timeAdded"] = now


def _prepare_claim_status(new: JsonObject, old: JsonObject, _now: str) -> None:
    claim_statuses.drop_reports_of_released_devices(new, old)


def _taint_rule_create_errors(rule: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(rule), False, subdomain_problems)
    _check_taint_rule(errors, rule.get("spec") or {})
    return errors


def _taint_rule_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_taint_rule(errors, new.get("spec") or {})
    return errors


def _taint_rule_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    conditions = (new.get("status") or {}).get("conditions") or []
    check_conditions(errors, conditions, "status.conditions")
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many("status.conditions", len(conditions), _MAX_CONDITIONS))
    return errors


def _check_taint_rule(errors: Errors, spec: JsonObject) -> None:
    selector, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    if selector.get("driver") is not None:
        check_driver_name(errors, selector["driver"], f"{path}.driver")
    if selector.get("pool") is not None:
        check_pool_name(errors, selector["pool"], f"{path}.pool")
    if selector.get("device") is not None:
        name = selector["device"]
        check_each(errors, label_problems(name), name, f"{path}.device")
    check_taint(errors, spec.get("taint") or {}, "spec.taint")


def _resource_claim(obj: JsonObject, now: float) -> Cells:
    status = status_of(obj)
    states = ["deleted"] if is_terminating(obj) else []
    if status.get("allocation") is not None:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not states:
        states.append("pending")
    return [name_of(obj), ",".join(states), age_of(obj, now)]


def _resource_slice(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    pool = (spec.get("pool") or {}).get("name") or ""
    node, driver = spec.get("nodeName") or "", spec.get("driver") or ""
    return [name_of(obj), node, driver, pool, age_of(obj, now)]


_RESOURCE_CLAIM: Final = Printer(columns_of("Name", "State", "Age"), _resource_claim)
_RESOURCE_SLICE: Final = Printer(
    columns_of("Name", "Node", "Driver", "Pool", "Age"), _resource_slice
)

KINDS: Final = (
    Kind(
        _GROUP,
        "DeviceClass",
        "deviceclasses",
        description="A name for devices with something in common.",
        namespaced=False,
        validation=Validation(devices.class_create_errors, devices.class_update_errors),
        strategy=WriteStrategy(counted=("spec",)),
        printer=NAME_AND_AGE,
    ),
    Kind(
        _GROUP,
        "DeviceTaintRule",
        "devicetaintrules",
        description="Taints devices that a selector finds.",
        version="v1beta2",
        namespaced=False,
        has_status=True,
        gate="DRADeviceTaintRules",
        validation=Validation(
            _taint_rule_create_errors, _taint_rule_update_errors, _taint_rule_status_errors
        ),
        strategy=WriteStrategy(
            empty_status={},
            counted=("spec",),
            keeps_metadata=True,
            create=_prepare_taint_rule,
            update=_prepare_taint_rule_update,
        ),
        printer=NAME_AND_AGE,
    ),
    Kind(
        _GROUP,
        "ResourceClaim",
        "resourceclaims",
        description="A request for devices.",
        has_status=True,
        defaults=defaults.set_claim_defaults,
        validation=Validation(
            devices.claim_create_errors,
            devices.claim_update_errors,
            claim_statuses.claim_status_errors,
        ),
        strategy=WriteStrategy(
            empty_status={},
            null_list=("spec", "devices", "requests"),
            keeps_metadata=True,
            status=_prepare_claim_status,
        ),
        printer=_RESOURCE_CLAIM,
    ),
    Kind(
        _GROUP,
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        description="From which each pod gets a claim of its own.",
        defaults=defaults.set_claim_template_defaults,
        validation=Validation(devices.template_create_errors, devices.template_update_errors),
        printer=NAME_AND_AGE,
    ),
    Kind(
        _GROUP,
        "ResourceSlice",
        "resourceslices",
        description="Devices of a pool, as their driver announces them.",
        namespaced=False,
        gated_fields=(
            ("DRANodeAllocatableResources", ("spec", "devices", "nodeAllocatableResourceMappings")),
            *(
                ("DRAListTypeAttributes", ("spec", "devices", "attributes", ANY_KEY, values))
                for values in ("bools", "ints", "strings", "versions")
            ),
        ),
        defaults=defaults.set_slice_defaults,
        validation=Validation(device_slices.create_errors, device_slices.update_errors),
        strategy=WriteStrategy(
            counted=("spec",), create=_prepare_slice, update=_prepare_slice_update
        ),
        printer=_RESOURCE_SLICE,
        selectable_fields=read_texts("spec.driver", "spec.nodeName"),
        selector_refusal=(
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {field}"
        ),
    ),
)
