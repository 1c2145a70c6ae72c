"""What admission policies, bindings and webhooks match: rules, selectors, and how strictly.

Expressions of policies and webhooks: they have to compile, and to be not too many.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel.admission_programs import BOOL, Programs, problem_of
from podium.kubernetes.cel.types import Type
from podium.kubernetes.rules.field_errors import (
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from podium.kubernetes.validation.names import path_segment_problems
from podium.kubernetes.validation.object_meta import Errors, check_label_key
from podium.kubernetes.validation.selectors import check_label_selector

MATCH_POLICIES: Final = ("Equivalent", "Exact")
REINVOCATION_POLICIES: Final = ("IfNeeded", "Never")
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")


def check_match_resources(errors: Errors, matched: JsonObject, path: str) -> None:
    policy = matched.get("matchPolicy")
    if policy is None:
        errors.append(required(f"{path}.matchPolicy"))
    elif policy not in MATCH_POLICIES:
        errors.append(not_supported(f"{path}.matchPolicy", policy, MATCH_POLICIES))
    for selector in ("namespaceSelector", "objectSelector"):
        check_label_selector(errors, matched.get(selector), f"{path}.{selector}")
    for rules in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(matched.get(rules) or ()):
            check_rule(errors, rule, f"{path}.{rules}[{index}]")


def check_rule(errors: Errors, rule: JsonObject, path: str) -> None:
    """A rule of a policy, which may name objects, or of a webhook."""
    seen: set[str] = set()
    for index, name in enumerate(rule.get("resourceNames") or ()):
        at = f"{path}.resourceNames[{index}]"
        for problem in path_segment_problems(name):
            errors.append(invalid(at, name, problem))
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
    operations = rule.get("operations") or ()
    _check_wildcard(errors, operations, f"{path}.operations", "operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            at = f"{path}.operations[{index}]"
            errors.append(not_supported(at, operation, _OPERATIONS))
    _check_wildcard(errors, rule.get("apiGroups") or (), f"{path}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or ()
    _check_wildcard(errors, versions, f"{path}.apiVersions", "API versions")
    for index, version in enumerate(versions):
        if not version:
            errors.append(required(f"{path}.apiVersions[{index}]"))
    _check_resources(errors, rule.get("resources") or (), f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", scope, _SCOPES))


def _check_wildcard(errors: Errors, listed: Sequence[str], path: str, what: str) -> None:
    if not listed:
        errors.append(required(path))
    elif len(listed) > 1 and "*" in listed:
        detail = f"if '*' is present, must not specify other {what}"
        errors.append(invalid(path, list(listed), detail))


def _check_resources(errors: Errors, listed: Sequence[str], path: str) -> None:
    if not listed:
        errors.append(required(path))
    whole: set[str] = set()
    below: set[str] = set()
    has_plain = False
    for index, each in enumerate(listed):
        at = f"{path}[{index}]"
        if not each:
            errors.append(required(at))
            continue
        resource, slash, subresource = each.partition("/")
        if not slash:
            has_plain = each != "*"
            continue
        if resource in whole:
            detail = f"if '{resource}/*' is present, must not specify {each}"
            errors.append(invalid(at, each, detail))
        if subresource in below:
            detail = f"if '*/{subresource}' is present, must not specify {each}"
            errors.append(invalid(at, each, detail))
        if subresource == "*":
            whole.add(resource)
        if resource == "*":
            below.add(subresource)
    if len(listed) > 1 and "*/*" in listed:
        detail = "if '*/*' is present, must not specify other resources"
        errors.append(invalid(path, list(listed), detail))
    if "*" in listed and has_plain:
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, list(listed), detail))


_MAX_CONDITIONS: Final = 64
MAX_EXPRESSIONS: Final = 500
MAX_EXPRESSION_CHARACTERS: Final = 100_000
"""Of one object. upstream has no such limits, but compiles a hundred times as fast."""
TOO_MANY: Final = (
    f"must not have more than {MAX_EXPRESSIONS} expressions, nor expressions of more than"
    f" {MAX_EXPRESSION_CHARACTERS} characters in all"
)


def are_too_many(sources: Iterable[str]) -> bool:
    written = [source for source in sources if source]
    return len(written) > MAX_EXPRESSIONS or sum(map(len, written)) > MAX_EXPRESSION_CHARACTERS


def check_match_conditions(
    errors: Errors, conditions: Sequence[JsonObject], programs: Programs, path: str
) -> None:
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many(path, len(conditions), _MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        at, name = f"{path}[{index}]", condition.get("name") or ""
        source = (condition.get("expression") or "").strip()
        if not source:
            errors.append(required(f"{at}.expression"))
        else:
            check_expression(errors, source, BOOL, programs, f"{at}.expression", variables=False)
        if not name:
            errors.append(required(f"{at}.name"))
            continue
        check_label_key(errors, name, f"{at}.name")
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)


def check_expression(
    errors: Errors,
    source: str,
    results: tuple[Type, ...],
    programs: Programs,
    path: str,
    *,
    variables: bool = True,
    authorizer: bool = True,
    patch_types: bool = False,
) -> None:
    how = {
        "with_variables": variables,
        "with_authorizer": authorizer,
        "with_patch_types": patch_types,
    }
    problem = problem_of(programs, source, results, **how)
    if problem:
        errors.append(invalid(path, source, problem))
