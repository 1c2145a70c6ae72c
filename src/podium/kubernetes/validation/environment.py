"""Environment variables of containers, and the fields of a pod that they may show."""

import re
from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.validation.field_values import check_no_backsteps
from podium.kubernetes.validation.names import (
    config_key_problems,
    label_problems,
    subdomain_problems,
    variable_name_problems,
)
from podium.kubernetes.validation.object_meta import Errors, check_each, check_label_key

_SHOWN_IN_VARIABLES: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
SHOWN_IN_FILES: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_KNOWN_FIELDS: Final = frozenset(
    {
        *_SHOWN_IN_VARIABLES,
        *SHOWN_IN_FILES,
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
    }
)
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_SUBSCRIPT: Final = re.compile(r"(.+)\['([^']*)'\]")
_CPU_DIVISORS: Final = ("1m", "1")
_BYTE_DIVISORS: Final = (
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
)  # fmt: skip
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def check_variables(errors: Errors, variables: list[JsonObject], path: str) -> None:
    for index, variable in enumerate(variables):
        name = variable.get("name") or ""
        if not name:
            errors.append(required(f"{path}[{index}].name"))
        else:
            check_each(errors, variable_name_problems(name), name, f"{path}[{index}].name")
        source = variable.get("valueFrom")
        if source is not None:
            at = f"{path}[{index}].valueFrom"
            _check_source(errors, source, at, has_value=bool(variable.get("value")))


def _check_source(errors: Errors, source: JsonObject, path: str, *, has_value: bool) -> None:
    if source.get("fieldRef") is not None:
        check_field_reference(errors, source["fieldRef"], _SHOWN_IN_VARIABLES, f"{path}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        at = f"{path}.resourceFieldRef"
        check_resource_reference(errors, source["resourceFieldRef"], at, in_file=False)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if source.get(kind) is not None:
            _check_key(errors, source[kind], f"{path}.{kind}")
    if source.get("fileKeyRef") is not None:
        _check_file_key(errors, source["fileKeyRef"], f"{path}.fileKeyRef")
    given = sum(source.get(kind) is not None for kind in _SOURCES)
    if not given:
        detail = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`"
        )
        errors.append(invalid(path, "", detail))
    elif has_value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif given > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def _check_key(errors: Errors, reference: JsonObject, path: str) -> None:
    name, key = reference.get("name") or "", reference.get("key") or ""
    check_each(errors, subdomain_problems(name), name, f"{path}.name")
    if not key:
        errors.append(required(f"{path}.key"))
    else:
        check_each(errors, config_key_problems(key), key, f"{path}.key")


def _check_file_key(errors: Errors, reference: JsonObject, path: str) -> None:
    key, volume = reference.get("key") or "", reference.get("volumeName") or ""
    if not key:
        errors.append(required(f"{path}.key"))
    else:
        check_each(errors, variable_name_problems(key), key, f"{path}.key")
    if not volume:
        errors.append(required(f"{path}.volumeName"))
    else:
        check_each(errors, label_problems(volume), volume, f"{path}.volumeName")
    if not reference.get("path"):
        errors.append(required(f"{path}.path"))
    else:
        check_no_backsteps(errors, reference["path"], f"{path}.path")


def check_field_reference(
    errors: Errors, reference: JsonObject, shown: Iterable[str], path: str
) -> None:
    field = reference.get("fieldPath") or ""
    if not reference.get("apiVersion"):
        errors.append(required(f"{path}.apiVersion"))
    elif not field:
        errors.append(required(f"{path}.fieldPath"))
    elif match := _SUBSCRIPT.fullmatch(field):
        holder, key = match[1], match[2]
        if holder == "metadata.annotations":
            check_label_key(errors, key.lower(), path)
        elif holder == "metadata.labels":
            check_label_key(errors, key, path)
        else:
            _refuse_field(errors, field, f"field label does not support subscript: {field}", path)
    elif field not in _KNOWN_FIELDS:
        _refuse_field(errors, field, f"field label not supported: {field}", path)
    elif field not in shown:
        errors.append(not_supported(f"{path}.fieldPath", field, shown))


def _refuse_field(errors: Errors, field: str, why: str, path: str) -> None:
    errors.append(invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {why}"))


def check_resource_reference(
    errors: Errors, reference: JsonObject, path: str, *, in_file: bool
) -> None:
    resource = reference.get("resource") or ""
    if in_file and not reference.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not resource:
        errors.append(required(f"{path}.resource"))
    elif resource not in _RESOURCES and not _is_huge_pages(resource):
        errors.append(not_supported(f"{path}.resource", resource, _RESOURCES))
    divisor = reference.get("divisor") or "0"
    if nano(divisor):
        _check_divisor(errors, resource, divisor, f"{path}.divisor")


def _is_huge_pages(resource: str) -> bool:
    return resource.startswith(("requests.hugepages-", "limits.hugepages-"))


def _check_divisor(errors: Errors, resource: str, divisor: str, path: str) -> None:
    what = resource.partition(".")[2]
    if what == "cpu":
        if divisor not in _CPU_DIVISORS:
            detail = "only divisor's values 1m and 1 are supported with the cpu resource"
            errors.append(invalid(path, resource, detail))
        return
    names = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
    named = "hugepages" if _is_huge_pages(resource) else names.get(what)
    if named and divisor not in _BYTE_DIVISORS:
        choices = ", ".join(_BYTE_DIVISORS)
        detail = f"only divisor's values {choices} are supported with the {named} resource"
        errors.append(invalid(path, resource, detail))


def check_variable_sources(errors: Errors, sources: list[JsonObject], path: str) -> None:
    """The `envFrom` of a container."""
    for index, source in enumerate(sources):
        at, prefix = f"{path}[{index}]", source.get("prefix") or ""
        if prefix:
            check_each(errors, variable_name_problems(prefix), prefix, f"{at}.prefix")
        given = 0
        for kind in ("configMapRef", "secretRef"):
            reference = source.get(kind)
            if reference is None:
                continue
            given += 1
            name = reference.get("name") or ""
            if not name:
                errors.append(required(f"{at}.{kind}.name"))
            else:
                check_each(errors, subdomain_problems(name), name, f"{at}.{kind}.name")
        if not given:
            detail = "must specify one of: `configMapRef` or `secretRef`"
            errors.append(invalid(path, "", detail))
        elif given > 1:
            detail = "may not have more than one field specified at a time"
            errors.append(invalid(path, "", detail))
