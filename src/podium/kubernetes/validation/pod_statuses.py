"""What may be written into the status of a pod.

What a kubelet may report of containers: their users, and the health of their devices.
"""

from collections.abc import Iterable
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
)
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import canonical
from podium.kubernetes.validation.addresses import check_address, check_families
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.pods import check_annotation_changes
from podium.kubernetes.validation.resource_amounts import NOT_NATIVE, is_native
from podium.kubernetes.validation.security import check_id

_NOT_NEGATIVE: Final = "must be a non-negative integer"
_MAPPED: Final = ("containerName", "resourceName", "requestName")
_CONTAINER_STATUSES: Final = (
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", "ephemeralContainers"),
)


def status_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    check_annotation_changes(errors, new, old)
    status: JsonObject = new.get("status") or {}
    before: JsonObject = old.get("status") or {}
    spec: JsonObject = old.get("spec") or {}
    if status.get("conditions"):
        _check_conditions(errors, status["conditions"])
    _check_nomination(errors, status, before, spec)
    if (status.get("observedGeneration") or 0) < 0:
        found = status["observedGeneration"]
        errors.append(invalid("status.observedGeneration", found, _NOT_NEGATIVE))
    if status.get("qosClass") != before.get("qosClass"):
        errors.append(immutable("status.qosClass", status.get("qosClass") or ""))
    for field, kind in _CONTAINER_STATUSES:
        if before.get(field):
            _check_transitions(errors, status, before[field], spec, field, kind)
    if status.get("resourceClaimStatuses"):
        claims = (new.get("spec") or {}).get("resourceClaims") or []
        _check_claims(errors, status["resourceClaimStatuses"], claims)
    if status.get("extendedResourceClaimStatus") is not None:
        _check_extended(errors, status["extendedResourceClaimStatus"], new.get("spec") or {})
    if status.get("nodeAllocatableResourceClaimStatuses"):
        _check_claimed_resources(errors, status, new.get("spec") or {})
    _check_addresses(errors, status, before, "podIPs")
    if status.get("hostIPs"):
        first = status["hostIPs"][0].get("ip") or ""
        if first != (status.get("hostIP") or ""):
            errors.append(invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`"))
        _check_addresses(errors, status, before, "hostIPs")
    _check_reports(errors, status, new.get("spec") or {})
    return errors


def _check_reports(errors: Errors, status: JsonObject, spec: JsonObject) -> None:
    for field, _ in _CONTAINER_STATUSES:
        if status.get(field):
            check_users(errors, status[field], spec.get("os"), f"status.{field}")
    for field, kind in _CONTAINER_STATUSES:
        if not status.get(field):
            continue
        if kind == "ephemeralContainers":
            check_no_resource_health(errors, status[field], f"status.{field}")
        else:
            check_resource_health(errors, status[field], spec.get(kind) or (), f"status.{field}")


def _check_conditions(errors: Errors, conditions: list[JsonObject]) -> None:
    for index, condition in enumerate(conditions):
        at = f"status.conditions[{index}]"
        observed = condition.get("observedGeneration") or 0
        if observed < 0:
            errors.append(invalid(f"{at}.observedGeneration", observed, _NOT_NEGATIVE))
        kind = condition.get("type") or ""
        if kind not in ("PodScheduled", "Ready", "Initialized"):
            check_label_key(errors, kind, f"{at}.Type")


def _check_nomination(
    errors: Errors, status: JsonObject, before: JsonObject, spec: JsonObject
) -> None:
    at, node = "status.nominatedNodeName", status.get("nominatedNodeName")
    if node and node != before.get("nominatedNodeName"):
        check_each(errors, subdomain_problems(node), node, at)
        if spec.get("nodeName"):
            detail = "may not be set on pods that are already bound to a node"
            errors.append(forbidden(at, detail))


def _check_transitions(
    errors: Errors,
    status: JsonObject,
    earlier: list[JsonObject],
    spec: JsonObject,
    field: str,
    kind: str,
) -> None:
    """A container that ended for good does not run again."""
    if kind != "ephemeralContainers" and _all_may_restart(spec):
        return
    containers = {container.get("name"): container for container in spec.get(kind) or ()}
    running = {
        each.get("name")
        for each in status.get(field) or ()
        if (each.get("state") or {}).get("terminated") is None
    }
    for index, container_status in enumerate(earlier):
        ended = (container_status.get("state") or {}).get("terminated")
        name = container_status.get("name")
        if ended is None or name not in running:
            continue
        container = containers.get(name)
        may_restart = container is not None and kind != "ephemeralContainers"
        if not (may_restart and _restarts(container or {}, spec, ended.get("exitCode") or 0)):
            detail = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.{field}[{index}].state", detail))


def _all_may_restart(spec: JsonObject) -> bool:
    """Whether the exit of one container can restart every other, whatever its own policy."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _restarts(container: JsonObject, spec: JsonObject, exit_code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        listed = exit_code in (codes.get("values") or ())
        if listed == (codes.get("operator") == "In"):
            return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _check_claims(errors: Errors, statuses: list[JsonObject], claims: list[JsonObject]) -> None:
    known = {claim.get("name") for claim in claims}
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        at, name = f"status.resourceClaimStatuses[{index}]", status.get("name") or ""
        if name not in known:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(f"{at}.name", name, detail))
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        claim = status.get("resourceClaimName")
        if claim is not None:
            check_each(errors, subdomain_problems(claim), claim, f"{at}.resourceClaimName")


def _check_extended(errors: Errors, status: JsonObject, spec: JsonObject) -> None:
    """The claim that was made for extended resources of containers."""
    at = "status.extendedResourceClaimStatus"
    requests = {
        container.get("name"): (container.get("resources") or {}).get("requests") or {}
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
    }
    mappings = status.get("requestMappings") or ()
    if not mappings:
        detail = "at least one request mapping is required"
        errors.append(required(f"{at}.requestMappings", detail))
    seen: set[tuple[str, ...]] = set()
    for index, mapping in enumerate(mappings):
        fields = {field: mapping.get(field) or "" for field in _MAPPED}
        place = f"{at}.requestMappings[{index}]"
        container, resource, request = fields.values()
        if container not in requests:
            detail = (
                "must match the name of an entry in spec.initContainers.name or "
                "spec.containers.name"
            )
            errors.append(invalid(f"{place}.containerName", container, detail))
        elif resource not in requests[container]:
            detail = (
                "must match the extended resource name of an entry in "
                "spec.initContainers.resources.requests or spec.containers.resources.requests"
            )
            errors.append(invalid(f"{place}.resourceName", resource, detail))
        # upstream: the path of this one names no mapping.
        check_each(errors, label_problems(request), request, f"{at}.requestName")
        if (key := tuple(fields.values())) in seen:
            errors.extend(duplicate(f"{place}.{field}", fields[field]) for field in _MAPPED)
        seen.add(key)
    name = status.get("resourceClaimName") or ""
    if not name:
        errors.append(required(f"{at}.resourceClaimName"))
    else:
        check_each(errors, subdomain_problems(name), name, f"{at}.resourceClaimName")


def _check_claimed_resources(errors: Errors, status: JsonObject, spec: JsonObject) -> None:
    """What claims take of the node's own resources."""
    references = (*(spec.get("resourceClaims") or ()), *(status.get("resourceClaimStatuses") or ()))
    claims = {each.get("resourceClaimName") for each in references} - {None}
    for index, claimed in enumerate(status["nodeAllocatableResourceClaimStatuses"]):
        at = f"status.nodeAllocatableResourceClaimStatuses[{index}]"
        name = claimed.get("resourceClaimName") or ""
        if not name:
            errors.append(required(f"{at}.resourceClaimName", "must not be empty"))
        if name not in claims:
            detail = "no mapping found in pod reference"
            errors.append(invalid(f"{at}.resourceClaimName", name, detail))
        for field in ("containers", "resources"):
            if not claimed.get(field):
                errors.append(required(f"{at}.{field}", "must not be empty"))
        for resource, quantity in sorted((claimed.get("resources") or {}).items()):
            where = f"{at}.resources[{resource}]"
            if not is_native(resource):
                errors.append(invalid(where, resource, NOT_NATIVE))
            if nano(quantity) < 0:
                errors.append(invalid(where, canonical(quantity), "must be non-negative"))


def _check_addresses(errors: Errors, status: JsonObject, before: JsonObject, field: str) -> None:
    given = [each.get("ip") or "" for each in status.get(field) or ()]
    known = [each.get("ip") or "" for each in before.get(field) or ()]
    for index, address in enumerate(given):
        check_address(errors, address, f"status.{field}[{index}]", known)
    shown = [{"IP": address} for address in given]
    check_families(errors, given, shown, f"status.{field}")


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
