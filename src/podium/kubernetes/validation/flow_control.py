"""Flow schemas and priority levels."""

from collections.abc import Sequence
from math import ceil, log2
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.resources.default_flow_control import fixed_level, fixed_schema
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import Errors, built_in_meta_errors, meta_of

_METHODS: Final = ("ByNamespace", "ByUser")
_LEVEL_TYPES: Final = ("Exempt", "Limited")
_RESPONSE_TYPES: Final = ("Queue", "Reject")
_SUBJECTS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_VERBS: Final = (
    "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch",
)  # fmt: skip
_MAX_PRECEDENCE: Final = 10_000
_MAX_QUEUES: Final = 10_000_000
_MAX_HASH_BITS: Final = 60
_OLD_ANNOTATION: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_NAMESPACE_RULE: Final = "each member of this list must be '*' or a DNS-1123 label; "


def schema_create_errors(schema: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(schema), False, subdomain_problems)
    spec, name = schema.get("spec") or {}, meta_of(schema).get("name") or ""
    _check_schema(errors, spec, name)
    fixed = fixed_schema(name)
    if fixed is not None and spec != fixed:
        shown = go_form("flowcontrol", "FlowSchemaSpec", spec)
        errors.append(invalid("spec", shown, f"spec of '{name}' must equal the fixed value"))
    _check_status(errors, schema)
    return errors


def schema_update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    return schema_create_errors(new)


def status_errors(new: JsonObject, _old: JsonObject) -> Errors:
    errors: Errors = []
    _check_status(errors, new)
    return errors


def level_create_errors(level: JsonObject) -> Errors:
    metadata = meta_of(level)
    errors = built_in_meta_errors(metadata, False, subdomain_problems)
    if _OLD_ANNOTATION in (metadata.get("annotations") or {}):
        detail = f"annotation '{_OLD_ANNOTATION}' is forbidden"
        errors.append(forbidden("metadata.annotations", detail))
    spec, name = level.get("spec") or {}, metadata.get("name") or ""
    _check_level(errors, spec, name)
    fixed = fixed_level(name)
    if name == "exempt" and fixed is not None:
        if {**spec, "exempt": None} != {**fixed, "exempt": None}:
            detail = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
            errors.append(invalid("spec", _shown_level(spec), detail))
    elif fixed is not None and spec != fixed:
        detail = f"spec of '{name}' must equal the fixed value"
        errors.append(invalid("spec", _shown_level(spec), detail))
    _check_status(errors, level)
    return errors


def _shown_level(spec: JsonObject) -> JsonValue:
    return go_form("flowcontrol", "PriorityLevelConfigurationSpec", spec)


def level_update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    return level_create_errors(new)


def _check_status(errors: Errors, obj: JsonObject) -> None:
    types: set[str] = set()
    conditions = (obj.get("status") or {}).get("conditions") or ()
    for index, condition in enumerate(conditions):
        path, kind = f"status.conditions[{index}].type", condition.get("type") or ""
        if kind in types:
            errors.append(duplicate(path, kind))
        types.add(kind)
        if not kind:
            errors.append(required(path))


# --- flow schemas ---------------------------------------------------------------------------------


def _check_schema(errors: Errors, spec: JsonObject, name: str) -> None:
    path, precedence = "spec.matchingPrecedence", spec.get("matchingPrecedence") or 0
    if precedence <= 0:
        errors.append(invalid(path, precedence, "must be a positive value"))
    if precedence > _MAX_PRECEDENCE:
        errors.append(invalid(path, precedence, f"must not be greater than {_MAX_PRECEDENCE}"))
    if precedence == 1 and name != "exempt":
        detail = "only the schema named 'exempt' may have matchingPrecedence 1"
        errors.append(invalid(path, precedence, detail))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        shown = {"Type": method.get("type") or ""}
        errors.append(not_supported("spec.distinguisherMethod.type", shown, _METHODS))
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    path = "spec.priorityLevelConfiguration.name"
    if not level:
        errors.append(required(path, "must reference a priority level"))
    else:
        for problem in subdomain_problems(level):
            errors.append(invalid(path, level, problem))
    for index, rule in enumerate(spec.get("rules") or ()):
        _check_rule(errors, rule, f"spec.rules[{index}]")


def _check_rule(errors: Errors, rule: JsonObject, path: str) -> None:
    subjects = rule.get("subjects") or ()
    if not subjects:
        errors.append(required(f"{path}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(subjects):
        _check_subject(errors, subject, f"{path}.subjects[{index}]")
    resources, others = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not resources and not others:
        detail = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(required(path, detail))
    for index, each in enumerate(resources):
        _check_resource_rule(errors, each, f"{path}.resourceRules[{index}]")
    for index, each in enumerate(others):
        _check_other_rule(errors, each, f"{path}.nonResourceRules[{index}]")


def _check_subject(errors: Errors, subject: JsonObject, path: str) -> None:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        errors.append(not_supported(f"{path}.kind", kind, tuple(_SUBJECTS)))
        return
    own = _SUBJECTS[kind]
    found = subject.get(own)
    if found is None:
        errors.append(required(f"{path}.{own}", f"{own} is required when subject kind is '{kind}'"))
    elif kind == "ServiceAccount":
        _check_account(errors, found, f"{path}.{own}")
    elif not found.get("name"):
        errors.append(required(f"{path}.{own}.name"))
    for other in ("ServiceAccount", "User", "Group"):
        field = _SUBJECTS[other]
        if other != kind and subject.get(field) is not None:
            detail = f"{field} is forbidden when subject kind is not '{other}'"
            errors.append(forbidden(f"{path}.{field}", detail))


def _check_account(errors: Errors, account: JsonObject, path: str) -> None:
    name, namespace = account.get("name") or "", account.get("namespace") or ""
    if not name:
        errors.append(required(f"{path}.name"))
    elif name != "*":
        for problem in subdomain_problems(name):
            errors.append(invalid(f"{path}.name", name, problem))
    if not namespace:
        detail = "must specify namespace for service account"
        errors.append(required(f"{path}.namespace", detail))
    for problem in label_problems(namespace) if namespace else ():
        errors.append(invalid(f"{path}.namespace", namespace, problem))


def _check_verbs(errors: Errors, verbs: Sequence[str], path: str) -> None:
    if not verbs:
        errors.append(required(path, "verbs must contain at least one value"))
    elif "*" in verbs:
        _check_alone(errors, verbs, path, "verbs")
    elif not set(verbs) <= set(_VERBS):
        errors.append(not_supported(path, list(verbs), _VERBS))


def _check_alone(errors: Errors, listed: Sequence[str], path: str, what: str) -> None:
    if len(listed) > 1 and "*" in listed:
        detail = f"if '*' is present, must not specify other {what}"
        errors.append(invalid(path, list(listed), detail))


def _check_resource_rule(errors: Errors, rule: JsonObject, path: str) -> None:
    _check_verbs(errors, rule.get("verbs") or (), f"{path}.verbs")
    for field, one, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        listed = rule.get(field) or ()
        if not listed:
            detail = f"resource rules must supply at least one {one}"
            errors.append(required(f"{path}.{field}", detail))
        _check_alone(errors, listed, f"{path}.{field}", many)
    namespaces = rule.get("namespaces") or ()
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(f"{path}.namespaces", detail))
    elif "*" in namespaces:
        _check_alone(errors, namespaces, f"{path}.namespaces", "namespaces")
    else:
        for index, namespace in enumerate(namespaces):
            for problem in label_problems(namespace):
                at = f"{path}.namespaces[{index}]"
                errors.append(invalid(at, namespace, f"{_NAMESPACE_RULE}{problem}"))


def _check_other_rule(errors: Errors, rule: JsonObject, path: str) -> None:
    _check_verbs(errors, rule.get("verbs") or (), f"{path}.verbs")
    paths, at = rule.get("nonResourceURLs") or (), f"{path}.nonResourceURLs"
    if not paths:
        errors.append(required(at, "nonResourceURLs must contain at least one value"))
    elif "*" in paths:
        _check_alone(errors, paths, at, "non-resource URLs")
    else:
        for index, each in enumerate(paths):
            problem = _path_problem(each)
            if problem:
                errors.append(invalid(f"{at}[{index}]", each, problem))


def _path_problem(path: str) -> str:
    if not path:
        return "must not be empty"
    if path == "/":
        return ""
    if not path.startswith("/"):
        return "must start with slash"
    if " " in path:
        return "must not contain white-space"
    if "//" in path:
        return "must not contain double slash"
    stars = path.count("*")
    if stars > 1 or (stars and not path.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


# --- priority levels ------------------------------------------------------------------------------


def _check_level(errors: Errors, spec: JsonObject, name: str) -> None:
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    if (name == "exempt") != (kind == "Exempt"):
        detail = "must be 'Exempt' if and only if `name` is 'exempt'"
        errors.append(invalid("spec.type", kind, detail))
    if kind == "Exempt":
        if limited is not None:
            errors.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
        if exempt is not None:
            _check_shares(errors, exempt, "spec.exempt")
            _check_lendable(errors, exempt, "spec.exempt")
    elif kind == "Limited":
        if exempt is not None:
            errors.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
        if limited is None:
            errors.append(required("spec.limited", "must not be empty when type is Limited"))
        else:
            _check_limited(errors, limited, "spec.limited")
    elif not kind:
        errors.append(required("spec.type"))
    else:
        errors.append(not_supported("spec.type", kind, _LEVEL_TYPES))


def _check_shares(errors: Errors, holder: JsonObject, path: str) -> None:
    shares = holder.get("nominalConcurrencyShares") or 0
    if shares < 0:
        at = f"{path}.nominalConcurrencyShares"
        errors.append(invalid(at, shares, "must be a non-negative integer"))


def _check_lendable(errors: Errors, holder: JsonObject, path: str) -> None:
    lendable = holder.get("lendablePercent") or 0
    if not 0 <= lendable <= 100:
        detail = "must be between 0 and 100, inclusive"
        errors.append(invalid(f"{path}.lendablePercent", lendable, detail))


def _check_limited(errors: Errors, limited: JsonObject, path: str) -> None:
    _check_shares(errors, limited, path)
    _check_response(errors, limited.get("limitResponse") or {}, f"{path}.limitResponse")
    _check_lendable(errors, limited, path)
    borrowed = limited.get("borrowingLimitPercent") or 0
    if borrowed < 0:
        detail = "if specified, must be a non-negative integer"
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowed, detail))


def _check_response(errors: Errors, response: JsonObject, path: str) -> None:
    kind, queuing = response.get("type") or "", response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            detail = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(forbidden(f"{path}.queuing", detail))
    elif kind == "Queue":
        if queuing is None:
            detail = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(f"{path}.queuing", detail))
        else:
            _check_queuing(errors, queuing, f"{path}.queuing")
    elif not kind:
        errors.append(required(f"{path}.type"))
    else:
        errors.append(not_supported(f"{path}.type", kind, _RESPONSE_TYPES))


def _check_queuing(errors: Errors, queuing: JsonObject, path: str) -> None:
    length, queues = queuing.get("queueLengthLimit") or 0, queuing.get("queues") or 0
    hand = queuing.get("handSize") or 0
    if length <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MAX_QUEUES:
        errors.append(invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}"))
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        detail = f"should not be greater than queues ({queues})"
        errors.append(invalid(f"{path}.handSize", hand, detail))
    elif ceil(log2(queues) * hand) > _MAX_HASH_BITS:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater"
            f" than {_MAX_HASH_BITS}"
        )
        errors.append(invalid(f"{path}.handSize", hand, detail))
