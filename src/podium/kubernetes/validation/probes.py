"""Probes and lifecycle hooks: exactly one way to act, and sensible numbers."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid, not_supported, required
from podium.kubernetes.validation.names import (
    header_name_problems,
    port_name_problems,
    port_number_problems,
)
from podium.kubernetes.validation.object_meta import NOT_NEGATIVE, Errors, check_each

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
