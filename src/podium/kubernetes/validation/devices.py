"""Claims on devices and the classes they name.

Expressions of selectors are compiled as the scheduler will compile them, so that what is stored can
be evaluated; the compiler is brought in when the first selector is seen.
"""

from collections.abc import Callable, Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.text_cache import cache_short_texts
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
from podium.kubernetes.validation.go_forms import go_form, go_struct
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    label_value_problems,
    meta_of,
)
from podium.kubernetes.validation.resource_amounts import is_extended
from podium.kubernetes.validation.volumes import check_driver_name, check_template_metadata

MAX_NAMES: Final = 32
_MAX_ALTERNATIVES: Final = 8
_MAX_EXPRESSION: Final = 10 * 1024
_MAX_POOL_NAME: Final = 253
_MODES: Final = ("All", "ExactCount")
_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_STARTS_OF_EXPRESSIONS: Final = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}"
)
_NO_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def class_create_errors(device_class: JsonObject) -> Errors:
    """A DeviceClass."""
    errors = built_in_meta_errors(meta_of(device_class), False, subdomain_problems)
    _check_class_spec(errors, device_class.get("spec") or {})
    return errors


def class_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(new), False, subdomain_problems)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    _check_class_spec(errors, new.get("spec") or {})
    return errors


def _check_class_spec(errors: Errors, spec: JsonObject) -> None:
    _check_selectors(errors, spec.get("selectors") or [], "spec.selectors")
    for index, config in enumerate(spec.get("config") or ()):
        check_config(errors, config, f"spec.config[{index}]")
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        detail = "must be a valid extended resource name"
        errors.append(invalid("spec.extendedResourceName", name, detail))


def claim_create_errors(claim: JsonObject) -> Errors:
    """A ResourceClaim."""
    errors = built_in_meta_errors(meta_of(claim), True, subdomain_problems)
    _check_claim_spec(errors, claim.get("spec") or {}, "spec")
    return errors


def claim_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(new), True, subdomain_problems)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec != before:
        errors.append(immutable("spec", _shown_spec(spec, before)))
    return errors


def _shown_spec(spec: JsonObject, before: JsonObject) -> JsonObject:
    """A list that was emptied is shown as an empty one; a list that never was is null."""
    shown = go_struct("resource", "ResourceClaimSpec", spec)
    earlier: JsonObject = before.get("devices") or {}
    for field in ("requests", "constraints", "config"):
        if shown["Devices"][field.title()] is None and earlier.get(field):
            shown["Devices"][field.title()] = []
    return shown


def template_create_errors(template: JsonObject) -> Errors:
    """A ResourceClaimTemplate."""
    errors = built_in_meta_errors(meta_of(template), True, subdomain_problems)
    spec: JsonObject = template.get("spec") or {}
    check_template_metadata(errors, spec.get("metadata") or {}, "spec.metadata")
    _check_claim_spec(errors, spec.get("spec") or {}, "spec.spec")
    return errors


def template_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = template_create_errors(new)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    if new.get("spec") != old.get("spec"):
        spec = new.get("spec") or {}
        inner = go_form("resource", "ResourceClaimSpec", spec.get("spec") or {})
        errors.append(immutable("spec", {**(spec.get("metadata") or {}), "Spec": inner}))
    return errors


def check_set(
    errors: Errors,
    items: list[JsonObject],
    limit: int,
    check: Callable[[Errors, JsonObject, str], None],
    key: str,
    path: str,
) -> None:
    """Each item on its own, how many there are, and that `key` tells them apart."""
    if len(items) > limit:
        errors.append(too_many(path, len(items), limit))
    seen: set[str] = set()
    for index, item in enumerate(items):
        check(errors, item, f"{path}[{index}]")
        value = item.get(key) or ""
        if value in seen:
            errors.append(duplicate(f"{path}[{index}]", value))
        seen.add(value)


def _check_claim_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    devices: JsonObject = spec.get("devices") or {}
    at = f"{path}.devices"
    names = request_names(devices)
    requests = devices.get("requests") or []
    check_set(errors, requests, MAX_NAMES, _check_request, "name", f"{at}.requests")
    for index, constraint in enumerate(devices.get("constraints") or ()):
        _check_constraint(errors, constraint, names, f"{at}.constraints[{index}]")
    for index, config in enumerate(devices.get("config") or ()):
        place = f"{at}.config[{index}]"
        check_references(errors, config.get("requests") or (), names, f"{place}.requests")
        check_config(errors, config, place)


def request_names(devices: JsonObject) -> frozenset[str]:
    """What constraints, configurations and allocations can refer to."""
    names: set[str] = set()
    for request in devices.get("requests") or ():
        name = request.get("name") or ""
        names.add(name)
        names.update(f"{name}/{each.get('name')}" for each in request.get("firstAvailable") or ())
    return frozenset(names)


def _check_request(errors: Errors, request: JsonObject, path: str) -> None:
    name = request.get("name") or ""
    check_each(errors, label_problems(name), name, f"{path}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not alternatives:
        detail = "exactly one of `exactly` or `firstAvailable` is required"
        errors.append(required(path, detail))
    elif exactly is not None and alternatives:
        detail = (
            "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        )
        errors.append(invalid(path, None, detail))
    elif exactly is not None:
        _check_wanted(errors, exactly, f"{path}.exactly")
    else:
        at = f"{path}.firstAvailable"
        check_set(errors, alternatives or [], _MAX_ALTERNATIVES, _check_alternative, "name", at)


def _check_alternative(errors: Errors, request: JsonObject, path: str) -> None:
    name = request.get("name") or ""
    check_each(errors, label_problems(name), name, f"{path}.name")
    _check_wanted(errors, request, path)


def _check_wanted(errors: Errors, request: JsonObject, path: str) -> None:
    name = request.get("deviceClassName") or ""
    if not name:
        errors.append(required(f"{path}.deviceClassName"))
    else:
        check_each(errors, subdomain_problems(name), name, f"{path}.deviceClassName")
    _check_selectors(errors, request.get("selectors") or [], f"{path}.selectors")
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    if mode not in _MODES:
        errors.append(not_supported(f"{path}.allocationMode", mode, _MODES))
    elif mode == "All" and count:
        detail = "must not be specified when allocationMode is 'All'"
        errors.append(invalid(f"{path}.count", count, detail))
    elif mode == "ExactCount" and count <= 0:
        errors.append(invalid(f"{path}.count", count, "must be greater than zero"))
    for index, toleration in enumerate(request.get("tolerations") or ()):
        _check_toleration(errors, toleration, f"{path}.tolerations[{index}]")


def _check_toleration(errors: Errors, toleration: JsonObject, path: str) -> None:
    key, value = toleration.get("key") or "", toleration.get("value") or ""
    operator, effect = toleration.get("operator") or "", toleration.get("effect") or ""
    if key:
        check_label_key(errors, key, f"{path}.key")
    if operator == "Exists":
        if value:
            detail = "must be empty for operator `Exists`"
            errors.append(invalid(f"{path}.value", value, detail))
    elif operator == "Equal":
        check_each(errors, label_value_problems(value), value, f"{path}.value")
    elif not operator:
        errors.append(required(f"{path}.operator"))
    else:
        errors.append(not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    if effect and effect not in _EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))


def _check_selectors(errors: Errors, selectors: list[JsonObject], path: str) -> None:
    if len(selectors) > MAX_NAMES:
        errors.append(too_many(path, len(selectors), MAX_NAMES))
    for index, selector in enumerate(selectors):
        at, cel = f"{path}[{index}].cel", selector.get("cel")
        if cel is None:
            errors.append(required(at))
            continue
        expression = cel.get("expression") or ""
        if len(expression) > _MAX_EXPRESSION:
            errors.append(too_long(f"{at}.expression", _MAX_EXPRESSION))
            continue
        problem = _expression_problem(expression)
        if problem:
            errors.append(invalid(f"{at}.expression", expression, problem))
        elif _is_too_complex(expression):
            errors.append(forbidden(f"{at}.expression", "too complex, exceeds cost limit"))


@cache_short_texts(1024)
def _expression_problem(expression: str) -> str:
    from podium.kubernetes.cel import CompileError, compile_selector

    try:
        compile_selector(expression)
    except CompileError as error:
        return str(error).replace("expecting an expression", f"expecting {_STARTS_OF_EXPRESSIONS}")
    return ""


def _is_too_complex(expression: str) -> bool:
    """Whether testing one device may cost more than any evaluation is allowed to."""
    from podium.kubernetes.cel import compile_selector
    from podium.kubernetes.cel.evaluation import COST_LIMIT

    return compile_selector(expression).max_cost > COST_LIMIT


def _check_constraint(
    errors: Errors, constraint: JsonObject, names: frozenset[str], path: str
) -> None:
    check_references(errors, constraint.get("requests") or (), names, f"{path}.requests")
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None:
            if "/" not in attribute:
                detail = "a fully qualified name must be a domain and a name separated by a slash"
                errors.append(invalid(f"{path}.{field}", attribute, detail))
            return
    detail = (
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields '
        "are set"
    )
    errors.append(required(path, detail))


def check_references(
    errors: Errors, references: Iterable[str], names: frozenset[str], path: str
) -> None:
    seen: set[str] = set()
    for index, name in enumerate(references):
        at = f"{path}[{index}]"
        check_reference(errors, name, names, at)
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)


def check_reference(errors: Errors, name: str, names: frozenset[str], path: str) -> None:
    parts = name.split("/")
    if len(parts) <= 2:
        for part in parts:
            check_each(errors, label_problems(part), part, path)
    if name not in names:
        errors.append(invalid(path, name, _NO_REQUEST))


def check_config(errors: Errors, config: JsonObject, path: str) -> None:
    opaque = config.get("opaque")
    if opaque is None:
        errors.append(required(f"{path}.opaque"))
        return
    check_driver_name(errors, opaque.get("driver") or "", f"{path}.opaque.driver")
    parameters = opaque.get("parameters")
    if parameters is None:
        errors.append(required(f"{path}.opaque.parameters"))
    elif not isinstance(parameters, dict):
        detail = "must be a valid JSON object"
        errors.append(invalid(f"{path}.opaque.parameters", "<value omitted>", detail))


def check_pool_name(errors: Errors, name: str, path: str) -> None:
    if not name:
        errors.append(required(path))
        return
    if len(name) > _MAX_POOL_NAME:
        errors.append(too_long(path, _MAX_POOL_NAME))
    for part in name.split("/"):
        check_each(errors, subdomain_problems(part), part, path)
