"""Containers of every sort: regular ones, those that run first, and those added for debugging.

`check_containers`, `check_init_containers` and `check_ephemeral_containers` walk the lists of one
pod spec. What is the same for all three comes first for each container, in upstream's order.

Probes and lifecycle hooks: exactly one way to act, and sensible numbers.
"""

from dataclasses import dataclass
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)
from podium.kubernetes.validation.environment import check_variable_sources, check_variables
from podium.kubernetes.validation.mounts import (
    Volumes,
    check_devices,
    check_host_ports,
    check_mounts,
    check_ports,
)
from podium.kubernetes.validation.names import (
    header_name_problems,
    label_problems,
    port_name_problems,
    port_number_problems,
)
from podium.kubernetes.validation.object_meta import NOT_NEGATIVE, Errors, check_each
from podium.kubernetes.validation.resource_amounts import ClaimNames, check_container_resources
from podium.kubernetes.validation.security import check_container_security

_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
_POLICY_FOR_RULES: Final = "must specify restartPolicy when restart rules are used"
_EXIT_CODE_OPERATORS: Final = ("In", "NotIn")
_RESIZED: Final = ("cpu", "memory")
_RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")
_NOT_FOR_INIT: Final = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_FOR_EPHEMERAL: Final = frozenset(
    {
        "name", "image", "command", "args", "workingDir", "env", "envFrom", "volumeMounts",
        "volumeDevices", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy",
        "securityContext", "stdin", "stdinOnce", "tty", "targetContainerName",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of a pod spec its containers refer to."""

    volumes: Volumes
    claims: ClaimNames
    grace_s: int | None
    restart_policy: str
    host_users: bool


def check_containers(
    errors: Errors, containers: list[JsonObject], around: Surroundings, path: str
) -> None:
    if not containers:
        errors.append(required(path))
        return
    names: set[str] = set()
    for index, container in enumerate(containers):
        at = f"{path}[{index}]"
        _check_common(errors, container, around, at)
        name = container.get("name") or ""
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        if container.get("lifecycle") is not None:
            lifecycle = container["lifecycle"]
            check_lifecycle(errors, lifecycle, around.grace_s, f"{at}.lifecycle")
        check_probes(errors, container, around.grace_s, at)
        _check_restart(errors, container, at)
    taken: set[str] = set()
    for index, container in enumerate(containers):
        check_host_ports(errors, container, taken, f"{path}[{index}]")


def check_init_containers(
    errors: Errors,
    containers: list[JsonObject],
    regular: list[JsonObject],
    around: Surroundings,
    path: str,
) -> None:
    names = {container.get("name") or "" for container in regular}
    for index, container in enumerate(containers):
        at, name = f"{path}[{index}]", container.get("name") or ""
        _check_common(errors, container, around, at)
        stays = container.get("restartPolicy") == "Always"
        if container.get("restartPolicy") is not None:
            _check_restart(errors, container, at)
        elif container.get("restartPolicyRules"):
            # upstream: without a policy, the rules of an init container are not looked at.
            errors.append(required(f"{at}.restartPolicy", _POLICY_FOR_RULES))
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        elif name:
            names.add(name)
        # upstream: every container is told as the first of its list, which it is checked as.
        check_host_ports(errors, container, set(), f"{path}[0]")
        if stays:
            if container.get("lifecycle") is not None:
                lifecycle = container["lifecycle"]
                check_lifecycle(errors, lifecycle, around.grace_s, f"{at}.lifecycle")
            check_probes(errors, container, around.grace_s, at)
            continue
        for field in _NOT_FOR_INIT:
            if container.get(field) is not None:
                detail = "may not be set for init containers without restartPolicy=Always"
                errors.append(forbidden(f"{at}.{field}", detail))
        for number, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                field = f"{at}.resizePolicy[{number}].restartPolicy"
                errors.append(invalid(field, "RestartContainer", detail))


def check_ephemeral_containers(
    errors: Errors,
    containers: list[JsonObject],
    others: list[JsonObject],
    around: Surroundings,
    path: str,
) -> None:
    targets = {container.get("name") or "" for container in others}
    names = set(targets)
    for index, container in enumerate(containers):
        at, name = f"{path}[{index}]", container.get("name") or ""
        _check_common(errors, container, around, at)
        check_image_is_trimmed(errors, container, at)
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in targets:
            errors.append(not_found(f"{at}.targetContainerName", target))
        for field, value in container.items():
            if field not in _FOR_EPHEMERAL and value not in (None, {}, [], "", 0, False):
                detail = "cannot be set for an Ephemeral Container"
                errors.append(forbidden(f"{at}.{field}", detail))
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    detail = "cannot be set for an Ephemeral Container"
                    errors.append(forbidden(f"{at}.volumeMounts[{number}].{field}", detail))


def check_image_is_trimmed(errors: Errors, container: JsonObject, path: str) -> None:
    image = container.get("image") or ""
    if image != image.strip():
        detail = "must not have leading or trailing whitespace"
        errors.append(invalid(f"{path}.image", image, detail))


def _check_common(errors: Errors, container: JsonObject, around: Surroundings, path: str) -> None:
    name = container.get("name") or ""
    if not name:
        errors.append(required(f"{path}.name"))
    else:
        check_each(errors, label_problems(name), name, f"{path}.name")
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy") or ""
    if policy not in _MESSAGE_POLICIES:
        at = f"{path}.terminationMessagePolicy"
        errors.append(not_supported(at, policy, _MESSAGE_POLICIES) if policy else required(at))
    if container.get("ports"):
        check_ports(errors, container["ports"], f"{path}.ports")
    if container.get("env"):
        check_variables(errors, container["env"], f"{path}.env")
    if container.get("envFrom"):
        check_variable_sources(errors, container["envFrom"], f"{path}.envFrom")
    if container.get("volumeMounts"):
        check_mounts(errors, container, around.volumes, path)
    if container.get("volumeDevices"):
        check_devices(errors, container, around.volumes, path)
    policy = container.get("imagePullPolicy") or ""
    if policy not in _PULL_POLICIES:
        at = f"{path}.imagePullPolicy"
        errors.append(not_supported(at, policy, _PULL_POLICIES) if policy else required(at))
    resources = container.get("resources")
    if resources:
        check_container_resources(errors, resources, around.claims, f"{path}.resources")
    if container.get("resizePolicy"):
        _check_resize_policies(errors, container["resizePolicy"], around, f"{path}.resizePolicy")
    security = container.get("securityContext")
    if security:
        at = f"{path}.securityContext"
        check_container_security(errors, security, at, host_users=around.host_users)


def _check_resize_policies(
    errors: Errors, policies: list[JsonObject], around: Surroundings, path: str
) -> None:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, action = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
        if name not in _RESIZED:
            errors.append(not_supported(path, name, _RESIZED) if name else required(path))
        if action not in _RESIZE_POLICIES:
            errors.append(
                not_supported(path, action, _RESIZE_POLICIES) if action else required(path)
            )
        if around.restart_policy == "Never" and action != "NotRequired":
            detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(invalid(path, action, detail))


def _check_restart(errors: Errors, container: JsonObject, path: str) -> None:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if not rules:
            return
        errors.append(required(f"{path}.restartPolicy", _POLICY_FOR_RULES))
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > 20:
        errors.append(too_many(f"{path}.restartPolicyRules", len(rules), 20))
    for index, rule in enumerate(rules):
        at, action = f"{path}.restartPolicyRules[{index}]", rule.get("action") or ""
        if action not in _RESTART_ACTIONS:
            errors.append(not_supported(f"{at}.action", action, _RESTART_ACTIONS))
        codes = rule.get("exitCodes")
        if codes is None:
            errors.append(required(f"{at}.exitCodes", "must be specified"))
            continue
        operator = codes.get("operator") or ""
        if operator not in _EXIT_CODE_OPERATORS:
            field = f"{at}.exitCodes.operator"
            errors.append(not_supported(field, operator, _EXIT_CODE_OPERATORS))
        if len(codes.get("values") or ()) > 255:
            errors.append(too_many(f"{at}.exitCodes.values", len(codes["values"]), 255))


_PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_COUNTS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def check_probes(errors: Errors, container: JsonObject, grace_s: int | None, path: str) -> None:
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        at = f"{path}.{name}"
        _check_probe(errors, probe, grace_s, at)
        if name == "readinessProbe":
            own_grace = probe.get("terminationGracePeriodSeconds")
            if own_grace is not None:
                detail = "must not be set for readinessProbes"
                errors.append(invalid(f"{at}.terminationGracePeriodSeconds", own_grace, detail))
        elif probe.get("successThreshold") != 1:
            found = probe.get("successThreshold") or 0
            errors.append(invalid(f"{at}.successThreshold", found, "must be 1"))


def _check_probe(errors: Errors, probe: JsonObject, grace_s: int | None, path: str) -> None:
    _check_handler(errors, probe, _PROBE_HANDLERS, grace_s, path)
    for name in _COUNTS:
        count = probe.get(name) or 0
        if count < 0:
            errors.append(invalid(f"{path}.{name}", count, NOT_NEGATIVE))
    own_grace = probe.get("terminationGracePeriodSeconds")
    if own_grace is not None and own_grace <= 0:
        detail = "must be greater than 0"
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", own_grace, detail))


def check_lifecycle(errors: Errors, lifecycle: JsonObject, grace_s: int | None, path: str) -> None:
    for name in ("postStart", "preStop"):
        hook = lifecycle.get(name)
        if hook is not None:
            _check_handler(errors, hook, _HOOK_HANDLERS, grace_s, f"{path}.{name}")


def _check_handler(
    errors: Errors,
    holder: JsonObject,
    kinds: tuple[str, ...],
    grace_s: int | None,
    path: str,
) -> None:
    found = False
    for kind in kinds:
        action = holder.get(kind)
        if action is None:
            continue
        if found:
            detail = "may not specify more than 1 handler type"
            errors.append(forbidden(f"{path}.{kind}", detail))
            continue
        found = True
        _check_action(errors, kind, action, grace_s, f"{path}.{kind}")
    if not found:
        errors.append(required(path, "must specify a handler type"))


def _check_action(
    errors: Errors, kind: str, action: JsonObject, grace_s: int | None, path: str
) -> None:
    if kind == "exec":
        if not action.get("command"):
            errors.append(required(f"{path}.command"))
    elif kind == "httpGet":
        if not action.get("path"):
            errors.append(required(f"{path}.path"))
        _check_port(errors, action.get("port") or 0, f"{path}.port")
        if action.get("scheme") not in ("HTTP", "HTTPS"):
            scheme = action.get("scheme") or ""
            errors.append(not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS")))
        for header in action.get("httpHeaders") or ():
            name = header.get("name") or ""
            check_each(errors, header_name_problems(name), name, f"{path}.httpHeaders")
    elif kind == "sleep":
        seconds = action.get("seconds") or 0
        if grace_s is not None and not 0 <= seconds <= grace_s:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})"
            errors.append(invalid(path, seconds, detail))
    else:
        _check_port(errors, action.get("port") or 0, f"{path}.port")


def _check_port(errors: Errors, port: int | str, path: str) -> None:
    problems = port_name_problems(port) if isinstance(port, str) else port_number_problems(port)
    check_each(errors, problems, port, path)
