"""ResourceSlices: the devices that drivers offer."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import immutable, invalid, required
from podium.kubernetes.validation.device_attributes import check_device, check_device_places
from podium.kubernetes.validation.devices import check_pool_name, check_set
from podium.kubernetes.validation.go_forms import go_forms
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
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
