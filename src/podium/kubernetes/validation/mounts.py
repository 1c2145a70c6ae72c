"""What containers use of their pod's volumes, and the ports they open."""

from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from podium.kubernetes.validation.field_values import check_descending
from podium.kubernetes.validation.names import port_name_problems, port_number_problems
from podium.kubernetes.validation.object_meta import Errors, check_each

Volumes = Mapping[str, JsonObject]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY_MODES: Final = ("Disabled", "Enabled", "IfPossible")


def check_ports(errors: Errors, ports: list[JsonObject], path: str) -> None:
    names: set[str] = set()
    for index, port in enumerate(ports):
        at, name = f"{path}[{index}]", port.get("name") or ""
        if name:
            problems = port_name_problems(name)
            check_each(errors, problems, name, f"{at}.name")
            if not problems and name in names:
                errors.append(duplicate(f"{at}.name", name))
            names.add(name)
        number = port.get("containerPort") or 0
        if not number:
            errors.append(required(f"{at}.containerPort"))
        else:
            check_each(errors, port_number_problems(number), number, f"{at}.containerPort")
        on_host = port.get("hostPort") or 0
        if on_host:
            check_each(errors, port_number_problems(on_host), on_host, f"{at}.hostPort")
        protocol = port.get("protocol") or ""
        if not protocol:
            errors.append(required(f"{at}.protocol"))
        elif protocol not in _PROTOCOLS:
            errors.append(not_supported(f"{at}.protocol", protocol, _PROTOCOLS))


def check_host_ports(errors: Errors, container: JsonObject, taken: set[str], path: str) -> None:
    """No two containers of a pod take the same port of the host."""
    for index, port in enumerate(container.get("ports") or ()):
        number = port.get("hostPort") or 0
        if number:
            key = f"{port.get('protocol') or ''}/{port.get('hostIP') or ''}/{number}"
            if key in taken:
                errors.append(duplicate(f"{path}.ports[{index}].hostPort", key))
            taken.add(key)


def check_mounts(errors: Errors, container: JsonObject, volumes: Volumes, path: str) -> None:
    devices = container.get("volumeDevices") or ()
    device_names = {device.get("name") or "" for device in devices}
    device_paths = {device.get("devicePath") or "" for device in devices}
    taken: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        at = f"{path}.volumeMounts[{index}]"
        name, target = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            errors.append(required(f"{at}.name"))
        if name not in volumes:
            errors.append(not_found(f"{at}.name", name))
        if not target:
            errors.append(required(f"{at}.mountPath"))
        if target in taken:
            errors.append(invalid(f"{at}.mountPath", target, "must be unique"))
        taken.add(target)
        if name in device_names:
            errors.append(invalid(f"{at}.name", name, "must not already exist in volumeDevices"))
        if target in device_paths:
            detail = "must not already exist as a path in volumeDevices"
            errors.append(invalid(f"{at}.mountPath", target, detail))
        # upstream: these fields are told without the index of their mount.
        _check_parts(errors, mount, container, at, f"{path}.volumeMounts")


def _check_parts(
    errors: Errors, mount: JsonObject, container: JsonObject, at: str, path: str
) -> None:
    below, expression = mount.get("subPath"), mount.get("subPathExpr")
    if below:
        check_descending(errors, below, f"{path}.subPath")
    if expression:
        if below:
            detail = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(f"{at}.subPathExpr", expression, detail))
        check_descending(errors, expression, f"{path}.subPathExpr")
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        if propagation not in _PROPAGATIONS:
            field = f"{path}.mountPropagation"
            errors.append(not_supported(field, propagation, _PROPAGATIONS))
        privileged = (container.get("securityContext") or {}).get("privileged")
        if propagation == "Bidirectional" and not privileged:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            errors.append(forbidden(f"{path}.mountPropagation", detail))
    recursive = mount.get("recursiveReadOnly")
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            detail = "may only be specified when readOnly is true"
            errors.append(forbidden(f"{path}.recursiveReadOnly", detail))
        if propagation not in (None, "None"):
            detail = "may only be specified when mountPropagation is None or not specified"
            errors.append(forbidden(f"{path}.recursiveReadOnly", detail))
    elif recursive not in (None, "Disabled"):
        field = f"{path}.recursiveReadOnly"
        errors.append(not_supported(field, recursive, _READ_ONLY_MODES))


def check_devices(errors: Errors, container: JsonObject, volumes: Volumes, path: str) -> None:
    mounts = container.get("volumeMounts") or ()
    mount_names = {mount.get("name") or "" for mount in mounts}
    mount_paths = {mount.get("mountPath") or "" for mount in mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        at = f"{path}.volumeDevices[{index}]"
        name, target = device.get("name") or "", device.get("devicePath") or ""
        volume = volumes.get(name)
        if not name:
            errors.append(required(f"{at}.name"))
        if name in names:
            errors.append(invalid(f"{at}.name", name, "must be unique"))
        if volume is None:
            errors.append(not_found(f"{at}.name", name))
        elif not _is_claimed(volume):
            detail = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                "mode"
            )
            errors.append(invalid(f"{at}.name", name, detail))
        if not target:
            errors.append(required(f"{at}.devicePath"))
        if target in paths:
            errors.append(invalid(f"{at}.devicePath", target, "must be unique"))
        if ".." in target.split("/"):
            detail = "can not contain backsteps ('..')"
            errors.append(invalid(f"{at}.devicePath", target, detail))
        else:
            paths.add(target)
        if name in mount_names:
            errors.append(invalid(f"{at}.name", name, "must not already exist in volumeMounts"))
        if target in mount_paths:
            detail = "must not already exist as a path in volumeMounts"
            errors.append(invalid(f"{at}.devicePath", target, detail))
        if name:
            names.add(name)


def _is_claimed(volume: JsonObject) -> bool:
    claim, ephemeral = volume.get("persistentVolumeClaim"), volume.get("ephemeral")
    return claim is not None or ephemeral is not None
