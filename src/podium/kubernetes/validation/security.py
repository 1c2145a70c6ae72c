"""Users, groups and profiles under which containers run."""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.field_values import check_descending
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import in_range
from podium.kubernetes.validation.object_meta import Errors

_MAX_ID: Final = 2**31 - 1
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MAX_SYSCTL: Final = 253
_SYSCTL_FORM: Final = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = re.compile(_SYSCTL_FORM)
_PROC_MOUNTS: Final = ("Default", "Unmasked")
_SHARED_WITH_HOST: Final = {
    "hostNetwork": "hostNetwork",
    # upstream: these two are told under their Go names.
    "hostPID": "HostPID",
    "hostIPC": "HostIPC",
}
_CHOICES: Final = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("Recursive",),
}


def check_id(errors: Errors, number: int | None, path: str) -> None:
    """The number of a user or a group."""
    if number is not None and not 0 <= number <= _MAX_ID:
        errors.append(invalid(path, number, in_range(0, _MAX_ID)))


def check_container_security(
    errors: Errors, context: JsonObject, path: str, *, host_users: bool
) -> None:
    for field in ("runAsUser", "runAsGroup"):
        check_id(errors, context.get(field), f"{path}.{field}")
    mount = context.get("procMount")
    if mount is not None:
        if mount not in _PROC_MOUNTS:
            errors.append(not_supported(f"{path}.procMount", mount, _PROC_MOUNTS))
        if host_users and mount == "Unmasked":
            detail = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(f"{path}.procMount", mount, detail))
    _check_seccomp(errors, context.get("seccompProfile"), f"{path}.seccompProfile")
    _check_app_armor(errors, context.get("appArmorProfile"), f"{path}.appArmorProfile")
    if context.get("allowPrivilegeEscalation") is False:
        _check_no_escalation(errors, context, path)


def _check_no_escalation(errors: Errors, context: JsonObject, path: str) -> None:
    """A container that may not gain privileges may not have them all from the start either."""
    added = (context.get("capabilities") or {}).get("add") or ()
    problems = ["`privileged` to true"] if context.get("privileged") else []
    problems += ["`capabilities.Add` CAP_SYS_ADMIN"] * list(added).count("CAP_SYS_ADMIN")
    for problem in problems:
        detail = f"cannot set `allowPrivilegeEscalation` to false and {problem}"
        errors.append(invalid(path, go_form("core", "SecurityContext", context), detail))


def check_pod_security(errors: Errors, spec: JsonObject, path: str) -> None:
    """The security context of a pod and the host's namespaces that it shares."""
    context: JsonObject = spec.get("securityContext") or {}
    at = f"{path}.securityContext"
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        check_id(errors, context.get(field), f"{at}.{field}")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        check_id(errors, group, f"{at}.supplementalGroups[{index}]")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{at}.shareProcessNamespace", True, detail))
    for field, choices in _CHOICES.items():
        value = context.get(field)
        if value is not None and value not in choices:
            errors.append(not_supported(f"{at}.{field}", value, choices))
    _check_sysctls(errors, context.get("sysctls") or [], f"{at}.sysctls")
    _check_seccomp(errors, context.get("seccompProfile"), f"{at}.seccompProfile")
    _check_app_armor(errors, context.get("appArmorProfile"), f"{at}.appArmorProfile")


def _check_sysctls(errors: Errors, sysctls: list[JsonObject], path: str) -> None:
    names: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        at, name = f"{path}[{index}].name", sysctl.get("name") or ""
        if not name:
            errors.append(required(at))
        elif len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name):
            detail = f"must have at most {_MAX_SYSCTL} characters and match regex ^{_SYSCTL_FORM}$"
            errors.append(invalid(at, name, detail))
        elif name in names:
            errors.append(duplicate(at, name))
        names.add(name)


def _check_app_armor(errors: Errors, profile: JsonObject | None, path: str) -> None:
    if profile is None:
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when appArmorProfile is set"))
    elif kind not in _PROFILES:
        errors.append(not_supported(f"{path}.type", kind, _PROFILES))
    at = f"{path}.localhostProfile"
    if kind != "Localhost":
        if local is not None and kind:
            errors.append(invalid(at, local, "can only be set when AppArmor type is Localhost"))
    elif not (local or "").strip():
        errors.append(required(at, "must be set when AppArmor type is Localhost"))


def check_host_users(errors: Errors, spec: JsonObject, path: str) -> None:
    """A pod with users of its own cannot share these namespaces with the host."""
    if spec.get("hostUsers") is not False:
        return
    for field, told in _SHARED_WITH_HOST.items():
        if spec.get(field):
            errors.append(forbidden(f"{path}.{told}", "when `hostUsers` is false"))
    for containers in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(containers) or ()):
            if container.get("volumeDevices"):
                at = f"{path}.{containers}[{index}].volumeDevices"
                errors.append(forbidden(at, "when `hostUsers` is false"))


def _check_seccomp(errors: Errors, profile: JsonObject | None, path: str) -> None:
    if profile is None:
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _PROFILES:
        errors.append(not_supported(f"{path}.type", kind, _PROFILES))
    if kind == "Localhost":
        if local is None:
            detail = "must be set when seccomp type is Localhost"
            errors.append(required(f"{path}.localhostProfile", detail))
        else:
            check_descending(errors, local, f"{path}.localhostProfile")
    elif local is not None:
        detail = "can only be set when seccomp type is Localhost"
        shown = {"Type": kind, "LocalhostProfile": local}
        errors.append(invalid(f"{path}.localhostProfile", shown, detail))
