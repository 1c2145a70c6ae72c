"""What a kubelet may report of containers: their users, and the health of their devices."""

from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.validation.object_meta import Errors
from podium.kubernetes.validation.security import check_id

_HEALTH: Final = ("Healthy", "Unhealthy", "Unknown")
_MAX_MESSAGE: Final = 1024
_CLAIM: Final = "claim:"
_NO_CLAIM: Final = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
    "or 'claim:<claimName>' if request is empty"
)
_NO_REQUEST: Final = "must match one of the container's resource requests"


def check_users(
    errors: Errors, statuses: Iterable[JsonObject], system: JsonObject | None, path: str
) -> None:
    """`system`: the operating system of the pod."""
    name = "linux" if system is None else system.get("name")
    for index, status in enumerate(statuses):
        linux = (status.get("user") or {}).get("linux")
        if linux is None:
            continue
        at = f"{path}[{index}].user.linux"
        if name == "windows":
            errors.append(forbidden(at, "cannot be set for a windows pod"))
        elif name == "linux":
            for field in ("uid", "gid"):
                check_id(errors, linux.get(field) or 0, f"{at}.{field}")
            for number, group in enumerate(linux.get("supplementalGroups") or ()):
                check_id(errors, group, f"{at}.supplementalGroups[{number}]")


def check_resource_health(
    errors: Errors, statuses: Iterable[JsonObject], containers: Iterable[JsonObject], path: str
) -> None:
    by_name = {container.get("name"): container for container in containers}
    for index, status in enumerate(statuses):
        container = by_name.get(status.get("name"))
        for number, allocated in enumerate(status.get("allocatedResourcesStatus") or ()):
            at, name = f"{path}[{index}].allocatedResourcesStatus[{number}]", allocated.get("name")
            if container is not None and name not in _resource_names(container):
                detail = _NO_CLAIM if (name or "").startswith(_CLAIM) else _NO_REQUEST
                errors.append(invalid(f"{at}.name", name or "", detail))
            _check_health(errors, allocated.get("resources") or (), f"{at}.resources")


def check_no_resource_health(errors: Errors, statuses: Iterable[JsonObject], path: str) -> None:
    """Ephemeral containers have no resources."""
    for index, status in enumerate(statuses):
        if status.get("allocatedResourcesStatus"):
            detail = "must not be specified in container status"
            errors.append(forbidden(f"{path}[{index}].allocatedResourcesStatus", detail))


def _resource_names(container: JsonObject) -> set[str]:
    resources: JsonObject = container.get("resources") or {}
    names = {name for name in resources.get("requests") or () if not name.startswith(_CLAIM)}
    for claim in resources.get("claims") or ():
        request = claim.get("request")
        names.add(f"{_CLAIM}{claim.get('name')}" + (f"/{request}" if request else ""))
    return names


def _check_health(errors: Errors, resources: Iterable[JsonObject], path: str) -> None:
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        at, health = f"{path}[{index}]", resource.get("health") or ""
        if health not in _HEALTH:
            errors.append(not_supported(f"{at}.health", health, _HEALTH))
        message = resource.get("message")
        if message == "":
            errors.append(required(f"{at}.message", "must be non-empty if specified"))
        elif message is not None and len(message.encode()) > _MAX_MESSAGE:
            errors.append(too_long(f"{at}.message", _MAX_MESSAGE))
        device = resource.get("resourceID") or ""
        if device in seen:
            errors.append(duplicate(f"{at}.resourceID", device))
        seen.add(device)
