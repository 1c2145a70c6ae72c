"""The kinds of the group `apiregistration.k8s.io`."""

import base64
from functools import partial
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.defaulting.core import set_api_service_defaults
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.rules.api_service_availability import LOCAL
from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.kubernetes.tables.printer import age_of, columns_of, name_of, spec_of, status_of
from podium.kubernetes.validation.names import (
    dns1035_problems,
    path_segment_problems,
    port_number_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)

_MAX_GROUP_PRIORITY: Final = 20000
_MAX_VERSION_PRIORITY: Final = 1000
_STATUSES: Final = ("True", "False", "Unknown")


def _prepare_api_service(api_service: JsonObject, now: str) -> None:
    """What the server serves itself is available at once."""
    if api_service["spec"].get("service") is None:
        api_service["status"]["conditions"] = [LOCAL.condition(now)]


def _cells(obj: JsonObject, now: float) -> Cells:
    service = spec_of(obj).get("service")
    shown = "Local" if service is None else f"{service.get('namespace')}/{service.get('name')}"
    return [name_of(obj), shown, _availability(obj), age_of(obj, now)]


def _availability(obj: JsonObject) -> str:
    for condition in status_of(obj).get("conditions") or ():
        if condition.get("type") == "Available":
            status, reason = str(condition.get("status") or ""), condition.get("reason")
            return status if status == "True" or not reason else f"{status} ({reason})"
    return "Unknown"


def _create_errors(api_service: JsonObject) -> Errors:
    spec = api_service.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    named = partial(_name_problems, wanted=f"{version}.{group}")
    errors = built_in_meta_errors(meta_of(api_service), False, named)
    if not group and version != "v1":
        detail = "only v1 may have an empty group and it better be legacy kube"
        errors.append(required("spec.group", detail))
    for problem in subdomain_problems(group) if group else ():
        errors.append(invalid("spec.group", group, problem))
    for problem in dns1035_problems(version):
        errors.append(invalid("spec.version", version, problem))
    _check_priority(errors, spec, "groupPriorityMinimum", _MAX_GROUP_PRIORITY)
    _check_priority(errors, spec, "versionPriority", _MAX_VERSION_PRIORITY)
    if spec.get("service") is None:
        _check_local(errors, spec)
    else:
        _check_service(errors, spec)
    return errors


def _update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    return [*errors, *_create_errors(new)]


def _status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        status = condition.get("status") or ""
        if status not in _STATUSES:
            path = f"status.conditions[{index}].status"
            errors.append(not_supported(path, status, _STATUSES))
    return errors


def _name_problems(name: str, wanted: str) -> list[str]:
    problems = path_segment_problems(name)
    if problems or name == wanted:
        return problems
    return [f'must be `spec.version+"."+spec.group`: {go_quote(wanted)}']


def _check_priority(errors: Errors, spec: JsonObject, field: str, most: int) -> None:
    found = spec.get(field) or 0
    if not 0 < found <= most:
        detail = f"must be positive and less than {most}"
        errors.append(invalid(f"spec.{field}", found, detail))


def _check_local(errors: Errors, spec: JsonObject) -> None:
    bundle = spec.get("caBundle")
    if bundle:
        size = len(base64.b64decode(bundle))
        detail = "local APIServices may not have a caBundle"
        errors.append(invalid("spec.caBundle", f"{size} bytes", detail))
    if spec.get("insecureSkipTLSVerify"):
        detail = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(invalid("spec.insecureSkipTLSVerify", True, detail))


def _check_service(errors: Errors, spec: JsonObject) -> None:
    service = spec["service"]
    for field in ("namespace", "name"):
        if not service.get(field):
            errors.append(required(f"spec.service.{field}"))
    port = service.get("port") or 0
    problems = port_number_problems(port)
    if problems:
        detail = f"port is not valid: {', '.join(problems)}"
        errors.append(invalid("spec.service.port", port, detail))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        detail = "may not be true if caBundle is present"
        errors.append(invalid("spec.insecureSkipTLSVerify", True, detail))


KINDS: Final = (
    Kind(
        "apiregistration.k8s.io",
        "APIService",
        "apiservices",
        description="Says who serves a group version: this server, or a service.",
        namespaced=False,
        has_status=True,
        categories=("api-extensions",),
        defaults=set_api_service_defaults,
        validation=Validation(_create_errors, _update_errors, _status_errors),
        strategy=WriteStrategy(empty_status={}, keeps_metadata=True, create=_prepare_api_service),
        printer=Printer(columns_of("Name", "Service", "Available", "Age"), _cells),
    ),
)
