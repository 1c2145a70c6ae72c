"""The status of a claim on devices: who uses it, what is allocated, what drivers report.

An allocation never changes: it is made, and taken back whole. Drivers may report on the devices of
the allocation only.
"""

import ipaddress
import json
import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from podium.kubernetes.validation.device_slices import check_binding_conditions
from podium.kubernetes.validation.devices import (
    MAX_NAMES,
    check_config,
    check_pool_name,
    check_reference,
    check_references,
    check_set,
    request_names,
)
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import label_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_update_errors,
    check_conditions,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.selectors import check_node_selector
from podium.kubernetes.validation.volumes import check_driver_name

_MAX_RESERVATIONS: Final = 256
_MAX_CONFIGURATIONS: Final = 2 * MAX_NAMES
_MAX_CONDITIONS: Final = 8
_MAX_DATA: Final = 10 * 1024
_MAX_ADDRESSES: Final = 16
_MAX_INTERFACE_NAME: Final = 256
_MAX_HARDWARE_ADDRESS: Final = 128
_SOURCES: Final = ("FromClaim", "FromClass")
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UID_LENGTHS: Final = (32, 36, 38, 45)
_DEVICE: Final = ("driver", "pool", "device", "shareID")

_Device = tuple[str, ...]


def claim_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    before: JsonObject = old.get("status") or {}
    users = status.get("reservedFor") or []
    check_set(errors, users, _MAX_RESERVATIONS, _check_user, "uid", "status.reservedFor")
    if status.get("devices"):
        _check_reports(errors, status["devices"], allocated_devices(status))
    allocation, earlier = status.get("allocation"), before.get("allocation")
    if users and allocation is None:
        detail = "may not be specified when `allocated` is not set"
        errors.append(forbidden("status.reservedFor", detail))
    elif users and meta_of(new).get("deletionTimestamp"):
        known = before.get("reservedFor") or []
        if any(user not in known for user in users):
            detail = (
                "new entries may not be added while `deallocationRequested` or "
                "`deletionTimestamp` are set"
            )
            errors.append(forbidden("status.reservedFor", detail))
    if earlier is not None and allocation is not None:
        if allocation != earlier:
            shown = go_form("resource", "AllocationResult", allocation)
            errors.append(immutable("status.allocation", shown))
    elif allocation is not None:
        names = request_names(((new.get("spec") or {}).get("devices")) or {})
        _check_allocation(errors, allocation, names, "status.allocation")
    return errors


def device_key(device: JsonObject) -> _Device:
    """What tells a device, or a share of one, from all others."""
    return tuple(device.get(field) or "" for field in _DEVICE)


def allocated_devices(status: JsonObject) -> frozenset[_Device]:
    devices: JsonObject = (status.get("allocation") or {}).get("devices") or {}
    return frozenset(device_key(result) for result in devices.get("results") or ())


def _check_user(errors: Errors, user: JsonObject, path: str) -> None:
    for field in ("resource", "name", "uid"):
        if not user.get(field):
            errors.append(required(f"{path}.{field}"))


def _check_allocation(
    errors: Errors, allocation: JsonObject, names: frozenset[str], path: str
) -> None:
    devices: JsonObject = allocation.get("devices") or {}
    results, at = devices.get("results") or (), f"{path}.devices.results"
    if len(results) > MAX_NAMES:
        errors.append(too_many(at, len(results), MAX_NAMES))
    for index, result in enumerate(results):
        place = f"{at}[{index}]"
        check_reference(errors, result.get("request") or "", names, f"{place}.request")
        _check_device(errors, result, place)
        check_binding_conditions(errors, result, place)
        _check_share(errors, result.get("shareID"), f"{place}.shareID")
    configurations, at = devices.get("config") or (), f"{path}.devices.config"
    if len(configurations) > _MAX_CONFIGURATIONS:
        errors.append(too_many(at, len(configurations), _MAX_CONFIGURATIONS))
    for index, config in enumerate(configurations):
        place, source = f"{at}[{index}]", config.get("source") or ""
        if source not in _SOURCES:
            field = f"{place}.source"
            errors.append(not_supported(field, source, _SOURCES) if source else required(field))
        check_references(errors, config.get("requests") or (), names, f"{place}.requests")
        check_config(errors, config, place)
    if allocation.get("nodeSelector") is not None:
        check_node_selector(errors, allocation["nodeSelector"], f"{path}.nodeSelector")


def _check_device(errors: Errors, device: JsonObject, path: str) -> None:
    check_driver_name(errors, device.get("driver") or "", f"{path}.driver")
    check_pool_name(errors, device.get("pool") or "", f"{path}.pool")
    name = device.get("device") or ""
    check_each(errors, label_problems(name), name, f"{path}.device")


def _check_share(errors: Errors, uid: str | None, path: str) -> None:
    if uid is None or _UID.fullmatch(uid):
        return
    bare = uid.lower().removeprefix("urn:uuid:").strip("{}").replace("-", "")
    if len(uid) not in _UID_LENGTHS:
        detail = f"error validating uid: invalid UUID length: {len(uid)}"
    elif not re.fullmatch("[0-9a-f]{32}", bare):
        detail = "error validating uid: invalid UUID format"
    else:
        detail = (
            "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
            "lowercase hexadecimal characters"
        )
    errors.append(invalid(path, uid, detail))


def _check_reports(
    errors: Errors, devices: list[JsonObject], allocated: frozenset[_Device]
) -> None:
    """What drivers report of their devices."""
    seen: set[_Device] = set()
    for index, device in enumerate(devices):
        at, key = f"status.devices[{index}]", device_key(device)
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), key, strict=True))
        _check_device(errors, device, at)
        _check_share(errors, device.get("shareID"), f"{at}.shareID")
        if key not in allocated:
            errors.append(invalid(at, shown, "must be an allocated device in the claim"))
        conditions = device.get("conditions") or []
        if len(conditions) > _MAX_CONDITIONS:
            errors.append(too_many(f"{at}.conditions", len(conditions), _MAX_CONDITIONS))
        check_conditions(errors, conditions, f"{at}.conditions")
        _check_data(errors, device.get("data"), f"{at}.data")
        _check_network(errors, device.get("networkData") or {}, f"{at}.networkData")
        if key in seen:
            errors.append(duplicate(at, shown))
        seen.add(key)


def _check_data(errors: Errors, data: object, path: str) -> None:
    if data is None:
        return
    if len(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()) > _MAX_DATA:
        errors.append(too_long(path, _MAX_DATA))
    elif not isinstance(data, dict):
        errors.append(invalid(path, "<value omitted>", "must be a valid JSON object"))


def _check_network(errors: Errors, network: JsonObject, path: str) -> None:
    lengths = {"interfaceName": _MAX_INTERFACE_NAME, "hardwareAddress": _MAX_HARDWARE_ADDRESS}
    for field, limit in lengths.items():
        if len((network.get(field) or "").encode()) > limit:
            errors.append(too_long(f"{path}.{field}", limit))
    addresses = network.get("ips") or []
    if len(addresses) > _MAX_ADDRESSES:
        errors.append(too_many(f"{path}.ips", len(addresses), _MAX_ADDRESSES))
    seen: set[str] = set()
    for index, address in enumerate(addresses):
        _check_interface_address(errors, address, f"{path}.ips[{index}]")
        if address in seen:
            errors.append(duplicate(f"{path}.ips[{index}]", address))
        seen.add(address)


def _check_interface_address(errors: Errors, text: str, path: str) -> None:
    """An address with the length of its network, such as `10.9.8.7/24`."""
    try:
        found = ipaddress.ip_interface(text) if text.rpartition("/")[2].isdecimal() else None
    except ValueError:
        found = None
    if found is None or "/" not in text:
        detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        errors.append(invalid(path, text, detail))
    elif text != (canonical := found.with_prefixlen):
        errors.append(invalid(path, text, f'must be in canonical form ("{canonical}")'))


def drop_reports_of_released_devices(new: JsonObject, old: JsonObject) -> None:
    """Whoever takes back an allocation need not know what drivers have reported."""
    status: JsonObject = new.get("status") or {}
    if not status.get("devices"):
        return
    released = allocated_devices(old.get("status") or {}) - allocated_devices(status)
    kept = [device for device in status["devices"] if device_key(device) not in released]
    if kept:
        status["devices"] = kept
    else:
        del status["devices"]
