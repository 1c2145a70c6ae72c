"""ResourceSlices: the devices that drivers offer.

What is said of one device: attributes and capacities under qualified names, and taints. A name is
an identifier as in C, of the driver's own domain or behind another one (`example.com/model`); an
attribute has exactly one value, of one type.
"""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
    too_many,
)
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import canonical
from podium.kubernetes.validation.devices import check_pool_name, check_set
from podium.kubernetes.validation.go_forms import go_form, go_forms
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    check_label_value,
    meta_of,
)
from podium.kubernetes.validation.resource_amounts import NOT_NATIVE, is_native
from podium.kubernetes.validation.selectors import check_node_selector
from podium.kubernetes.validation.volumes import check_driver_name

_MAX_DEVICES: Final = 128
_MAX_RICH_DEVICES: Final = 64
_PLACES: Final = "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`"


def create_errors(resource_slice: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(resource_slice), False, subdomain_problems)
    _check_spec(errors, resource_slice.get("spec") or {}, None)
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_spec(errors, new.get("spec") or {}, old.get("spec") or {})
    return errors


def _check_spec(errors: Errors, spec: JsonObject, before: JsonObject | None) -> None:
    check_driver_name(errors, spec.get("driver") or "", "spec.driver")
    pool: JsonObject = spec.get("pool") or {}
    check_pool_name(errors, pool.get("name") or "", "spec.pool.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        detail = "must be greater than zero"
        errors.append(invalid("spec.pool.resourceSliceCount", count, detail))
    if generation < 0:
        detail = "must be greater than or equal to zero"
        errors.append(invalid("spec.pool.generation", generation, detail))
    if before is not None:
        _check_fixed(errors, spec, before)
    _check_places(errors, spec)
    devices = spec.get("devices") or []
    rich = any(device.get("taints") or device.get("consumesCounters") for device in devices)
    limit = _MAX_RICH_DEVICES if rich else _MAX_DEVICES
    each = bool(spec.get("perDeviceNodeSelection"))

    def check(errors: Errors, device: JsonObject, path: str) -> None:
        check_device(errors, device, path)
        check_device_places(errors, device, path, each=each)

    check_set(errors, devices, limit, check, "name", "spec.devices")


def _check_fixed(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    name = (spec.get("pool") or {}).get("name")
    if name != (before.get("pool") or {}).get("name"):
        errors.append(immutable("spec.pool.name", name))
    for field in ("driver", "nodeName"):
        if spec.get(field) != before.get(field):
            errors.append(immutable(f"spec.{field}", spec.get(field)))


def _check_places(errors: Errors, spec: JsonObject) -> None:
    """A slice says in exactly one way which nodes can use its devices."""
    given: list[str] = []
    node = spec.get("nodeName")
    if node:
        given.append("`nodeName`")
        check_each(errors, subdomain_problems(node), node, "spec.nodeName")
    elif node is not None:
        detail = "must be either unset or set to a non-empty string"
        errors.append(invalid("spec.nodeName", node, detail))
    selector = spec.get("nodeSelector")
    if selector is not None:
        given.append("`nodeSelector`")
        check_node_selector(errors, selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            shown = go_forms("core", "NodeSelectorTerm", terms)
            detail = "must have exactly one node selector term"
            errors.append(invalid("spec.nodeSelector.nodeSelectorTerms", shown, detail))
    for field in ("allNodes", "perDeviceNodeSelection"):
        value = spec.get(field)
        if value:
            given.append(f"`{field}`")
        elif value is not None:
            detail = "must be either unset or set to true"
            errors.append(invalid(f"spec.{field}", value, detail))
    if not given:
        errors.append(required("spec", f"exactly one of {_PLACES} is required"))
    elif len(given) > 1:
        detail = f"exactly one of {_PLACES} is required, but multiple fields are set"
        errors.append(invalid("spec", f"{{{', '.join(given)}}}", detail))


_EACH: Final = "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
_MAX_PROPERTIES: Final = 32
_MAX_VALUES: Final = 48
_MAX_TAINTS: Final = 16
_MAX_IDENTIFIER: Final = 32
_MAX_VALUE: Final = 64
_MAX_CONDITIONS: Final = 4
_BINDING: Final = ("bindingConditions", "bindingFailureConditions")
_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_SINGLE: Final = ("bool", "int", "string", "version")
_SEVERAL: Final = ("bools", "ints", "strings", "versions")

_IDENTIFIER_FORM: Final = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER: Final = re.compile(_IDENTIFIER_FORM)
_IDENTIFIER_RULE: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    f"validation is '{_IDENTIFIER_FORM}')"
)
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_EARLY: Final = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = r"[0-9a-zA-Z-]+"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_EARLY}(?:\.{_EARLY})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
)


def check_device(errors: Errors, device: JsonObject, path: str) -> None:
    name = device.get("name") or ""
    check_each(errors, label_problems(name), name, f"{path}.name")
    attributes: JsonObject = device.get("attributes") or {}
    capacities: JsonObject = device.get("capacity") or {}
    total = len(attributes) + len(capacities)
    if total > _MAX_PROPERTIES:
        detail = f"the total number of attributes and capacities must not exceed {_MAX_PROPERTIES}"
        errors.append(invalid(path, total, detail))
    values = sum(map(_count, attributes.values()))
    if values > _MAX_VALUES:
        detail = f"the total number of attribute values must not exceed {_MAX_VALUES}"
        errors.append(invalid(path, values, detail))
    for key, attribute in sorted(attributes.items()):
        _check_name(errors, key, f"{path}.attributes")
        _check_attribute(errors, attribute, f"{path}.attributes[{key}]")
    for key, capacity in sorted(capacities.items()):
        _check_name(errors, key, f"{path}.capacity")
        if capacity.get("requestPolicy") is not None and not device.get("allowMultipleAllocations"):
            at = f"{path}.capacity[{key}].requestPolicy"
            errors.append(forbidden(at, "allowMultipleAllocations must be true"))
    _check_taints(errors, device.get("taints") or [], f"{path}.taints")
    check_binding_conditions(errors, device, path)
    if device.get("nodeAllocatableResourceMappings"):
        _check_mappings(errors, device, f"{path}.nodeAllocatableResourceMappings")


def check_binding_conditions(errors: Errors, device: JsonObject, path: str) -> None:
    """The conditions that a device waits for before a pod is bound, and those that end the wait."""
    wanted, failing = (device.get(field) or [] for field in _BINDING)
    for field, conditions in zip(_BINDING, (wanted, failing), strict=True):
        if len(conditions) > _MAX_CONDITIONS:
            errors.append(too_many(f"{path}.{field}", len(conditions), _MAX_CONDITIONS))
        for index, condition in enumerate(conditions):
            check_label_key(errors, condition, f"{path}.{field}[{index}]")
    for field, conditions in zip(_BINDING, (wanted, failing), strict=True):
        for index, condition in enumerate(conditions):
            at = f"{path}.{field}[{index}]"
            if condition in conditions[:index]:
                errors.append(duplicate(at, condition))
            if conditions is failing and condition in wanted:
                detail = "bindingFailureConditions must not overlap with bindingConditions"
                errors.append(invalid(at, condition, detail))
    if bool(wanted) != bool(failing):
        given, missing = _BINDING if wanted else reversed(_BINDING)
        detail = f"{missing} are required to use {given}"
        errors.append(invalid(f"{path}.{missing}", device.get(missing), detail))


def _check_mappings(errors: Errors, device: JsonObject, path: str) -> None:
    """What a device stands for of its node's own resources."""
    capacities: JsonObject = device.get("capacity") or {}
    for name, mapping in sorted(device["nodeAllocatableResourceMappings"].items()):
        at = f"{path}[{name}]"
        if not is_native(name):
            errors.append(invalid(at, name, NOT_NATIVE))
        multiplier, key = mapping.get("allocationMultiplier"), mapping.get("capacityKey")
        if multiplier is not None and nano(multiplier) <= 0:
            shown = canonical(multiplier)
            errors.append(invalid(f"{at}.allocationMultiplier", shown, "must be positive"))
        if key == "":
            detail = "capacityKey must not be an empty string"
            errors.append(invalid(f"{at}.capacityKey", "", detail))
        elif key is not None and key not in capacities:
            errors.append(not_found(f"{at}.capacityKey", key))


def check_device_places(errors: Errors, device: JsonObject, path: str, *, each: bool) -> None:
    """Which nodes can use a device: for the device itself to say only if `each` does so."""
    given = [field for field in ("nodeName", "nodeSelector", "allNodes") if device.get(field)]
    if not each:
        if given:
            detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if"
            errors.append(invalid(path, None, f"{detail} {_EACH}"))
        return
    detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
    if not given:
        errors.append(required(path, f"{detail} {_EACH}"))
    elif len(given) > 1:
        shown = ", ".join(f"`{field}`" for field in given)
        errors.append(invalid(path, f"{{{shown}}}", f"{detail} {_EACH}"))


def _count(attribute: JsonObject) -> int:
    listed = sum(len(attribute.get(kind) or ()) for kind in _SEVERAL)
    return listed + sum(attribute.get(kind) is not None for kind in _SINGLE)


def _check_name(errors: Errors, name: str, path: str) -> None:
    parts = name.split("/")
    if len(parts) == 1:
        _check_identifier(errors, parts[0], path)
    elif len(parts) == 2:
        if parts[0]:
            check_driver_name(errors, parts[0], path)
        else:
            errors.append(invalid(path, "", "the domain must not be empty"))
        if parts[1]:
            _check_identifier(errors, parts[1], path)
        else:
            errors.append(invalid(path, "", "the name must not be empty"))


def _check_identifier(errors: Errors, text: str, path: str) -> None:
    if len(text.encode()) > _MAX_IDENTIFIER:
        errors.append(too_long(path, _MAX_IDENTIFIER))
    if not _IDENTIFIER.fullmatch(text):
        errors.append(invalid(path, text, _IDENTIFIER_RULE))


def _check_attribute(errors: Errors, attribute: JsonObject, path: str) -> None:
    for kind in ("string", "version"):
        if attribute.get(kind) is not None:
            _check_text(errors, attribute[kind], f"{path}.{kind}", is_version=kind == "version")
    for kind in ("strings", "versions"):
        for index, text in enumerate(attribute.get(kind) or ()):
            at = f"{path}.{kind}[{index}]"
            _check_text(errors, text, at, is_version=kind == "versions")
    given = [kind for kind in (*_SINGLE, *_SEVERAL) if attribute.get(kind) is not None]
    if len(given) != 1:
        shown = go_form("resource", "DeviceAttribute", attribute) if given else ""
        errors.append(invalid(path, shown, "exactly one value must be specified"))


def _check_text(errors: Errors, text: str, path: str, *, is_version: bool) -> None:
    if is_version and not _VERSION.fullmatch(text):
        errors.append(invalid(path, text, "must be a string compatible with semver.org spec 2.0.0"))
    if len(text.encode()) > _MAX_VALUE:
        errors.append(too_long(path, _MAX_VALUE))


def _check_taints(errors: Errors, taints: list[JsonObject], path: str) -> None:
    if len(taints) > _MAX_TAINTS:
        errors.append(too_many(path, len(taints), _MAX_TAINTS))
    for index, taint in enumerate(taints):
        check_taint(errors, taint, f"{path}[{index}]")


def check_taint(errors: Errors, taint: JsonObject, path: str) -> None:
    check_label_key(errors, taint.get("key") or "", f"{path}.key")
    value = taint.get("value") or ""
    if value:
        check_label_value(errors, value, f"{path}.value")
    effect = taint.get("effect") or ""
    if not effect:
        errors.append(required(f"{path}.effect"))
    elif effect not in _EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))
