"""Ingresses and their classes."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    FieldError,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.validation.addresses import address_of, check_address
from podium.kubernetes.validation.field_values import check_domain_path
from podium.kubernetes.validation.names import (
    label_problems,
    path_segment_problems,
    port_name_problems,
    port_number_problems,
    subdomain_problems,
    wildcard_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)

_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_SCOPES: Final = ("Cluster", "Namespace")
_BAD_SEQUENCES: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS: Final = ("/..", "/.")
_NOT_ABSOLUTE: Final = "must be an absolute path"
_NOT_A_NAME: Final = "must be a DNS name, not an IP address"
_MAX_CONTROLLER: Final = 250


def create_errors(ingress: JsonObject) -> Errors:
    metadata = meta_of(ingress)
    errors = built_in_meta_errors(metadata, True, subdomain_problems)
    spec: JsonObject = ingress.get("spec") or {}
    _check_spec(errors, spec)
    annotations: JsonObject = metadata.get("annotations") or {}
    named, given = spec.get("ingressClassName"), annotations.get(_CLASS_ANNOTATION)
    if named is not None and given is not None and given != named:
        detail = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", given, detail))
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    errors.extend(built_in_meta_errors(meta_of(new), True, subdomain_problems))
    _check_spec(errors, new.get("spec") or {})
    return errors


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    known = [point.get("ip") or "" for point in _points(old)]
    for index, point in enumerate(_points(new)):
        at = f"status.loadBalancer.ingress[{index}]"
        address, name = point.get("ip") or "", point.get("hostname") or ""
        if address:
            check_address(errors, address, f"{at}.ip", known)
        if name:
            check_each(errors, subdomain_problems(name), name, f"{at}.hostname")
            if address_of(name) is not None:
                errors.append(invalid(f"{at}.hostname", name, _NOT_A_NAME))
    return errors


def _points(ingress: JsonObject) -> list[JsonObject]:
    balancer: JsonObject = (ingress.get("status") or {}).get("loadBalancer") or {}
    return balancer.get("ingress") or []


def _check_spec(errors: Errors, spec: JsonObject) -> None:
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and backend is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        errors.append(invalid("spec", spec.get("rules"), detail))
    if backend is not None:
        _check_backend(errors, backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        _check_rule(errors, rule, f"spec.rules[{index}]")
    for index, entry in enumerate(spec.get("tls") or ()):
        _check_tls(errors, entry, f"spec.tls[{index}]")
    name = spec.get("ingressClassName")
    if name is not None:
        check_each(errors, subdomain_problems(name), name, "spec.ingressClassName")


def _check_rule(errors: Errors, rule: JsonObject, path: str) -> None:
    host = rule.get("host") or ""
    if host:
        if address_of(host) is not None:
            errors.append(invalid(f"{path}.host", host, _NOT_A_NAME))
        _check_host(errors, host, f"{path}.host")
    http = rule.get("http")
    if http is None:
        return
    paths = http.get("paths") or []
    if not paths:
        errors.append(required(f"{path}.http.paths"))
    for index, each in enumerate(paths):
        _check_path(errors, each, f"{path}.http.paths[{index}]")


def _check_host(errors: Errors, host: str, path: str) -> None:
    problems = wildcard_problems(host) if "*" in host else subdomain_problems(host)
    check_each(errors, problems, host, path)


def _check_path(errors: Errors, entry: JsonObject, path: str) -> None:
    kind, written = entry.get("pathType"), entry.get("path") or ""
    if kind is None:
        errors.append(required(f"{path}.pathType", "pathType must be specified"))
        return
    at = f"{path}.path"
    if kind in ("Exact", "Prefix"):
        if not written.startswith("/"):
            errors.append(invalid(at, written, _NOT_ABSOLUTE))
        for bad in _BAD_SEQUENCES:
            if bad in written:
                errors.append(invalid(at, written, f"must not contain '{bad}'"))
        for bad in _BAD_ENDS:
            if written.endswith(bad):
                errors.append(invalid(at, written, f"cannot end with '{bad}'"))
    elif kind == "ImplementationSpecific":
        if written and not written.startswith("/"):
            errors.append(invalid(at, written, _NOT_ABSOLUTE))
    else:
        errors.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    _check_backend(errors, entry.get("backend") or {}, f"{path}.backend")


def _check_backend(errors: Errors, backend: JsonObject, path: str) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.append(invalid(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        _check_reference(errors, resource, f"{path}.resource")
    elif service is not None:
        _check_service(errors, service, path)
    else:
        errors.append(invalid(path, "", "resource or service backend is required"))


def _check_service(errors: Errors, service: JsonObject, path: str) -> None:
    name = service.get("name") or ""
    if not name:
        errors.append(required(f"{path}.service.name"))
    else:
        check_each(errors, label_problems(name), name, f"{path}.service.name")
    port: JsonObject = service.get("port") or {}
    named, number = port.get("name") or "", port.get("number") or 0
    if named and number:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif named:
        check_each(errors, port_name_problems(named), named, f"{path}.service.port.name")
    elif number:
        problems = port_number_problems(number)
        check_each(errors, problems, number, f"{path}.service.port.number")
    else:
        errors.append(required(path, "port name or number is required"))


def _check_reference(errors: Errors, reference: JsonObject, path: str) -> None:
    group = reference.get("apiGroup")
    if group is not None:
        check_each(errors, subdomain_problems(group), group, f"{path}.apiGroup")
    for field in ("kind", "name"):
        value = reference.get(field) or ""
        if not value:
            errors.append(required(f"{path}.{field}"))
        else:
            check_each(errors, path_segment_problems(value), value, f"{path}.{field}")


def _check_tls(errors: Errors, entry: JsonObject, path: str) -> None:
    for index, host in enumerate(entry.get("hosts") or ()):
        _check_host(errors, host, f"{path}.hosts[{index}]")
    secret = entry.get("secretName") or ""
    if secret:
        check_each(errors, subdomain_problems(secret), secret, f"{path}.secretName")


# --- classes -------------------------------------------------------------------------------------


def class_create_errors(ingress_class: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(ingress_class), False, subdomain_problems)
    spec: JsonObject = ingress_class.get("spec") or {}
    controller = spec.get("controller") or ""
    if len(controller.encode()) > _MAX_CONTROLLER:
        errors.append(too_long("spec.controller", _MAX_CONTROLLER))
    check_domain_path(errors, controller, "spec.controller")
    parameters = spec.get("parameters")
    if parameters is not None:
        _check_reference(errors, parameters, "spec.parameters")
        errors.extend(_scope_errors(parameters, "spec.parameters"))
    return errors


def class_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    controller = (new.get("spec") or {}).get("controller") or ""
    if controller != ((old.get("spec") or {}).get("controller") or ""):
        errors.append(immutable("spec.controller", controller))
    errors.extend(class_create_errors(new))
    return errors


def _scope_errors(parameters: JsonObject, path: str) -> list[FieldError]:
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [required(f"{path}.scope")]
    if scope not in _SCOPES:
        return [not_supported(f"{path}.scope", scope, _SCOPES)]
    at = f"{path}.namespace"
    if scope == "Cluster":
        told = "`parameters.scope` is set to 'Cluster'"
        return [] if namespace is None else [forbidden(at, told)]
    if namespace is None:
        return [required(at, "`parameters.scope` is set to 'Namespace'")]
    return [invalid(at, namespace, problem) for problem in label_problems(namespace)]
