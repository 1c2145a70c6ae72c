"""Admission webhooks: where they are, when they are asked, and what they promise."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.golang.urls import url_problem
from podium.kubernetes.cel.admission_programs import Programs
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.match_resources import (
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    TOO_MANY,
    are_too_many,
    check_match_conditions,
    check_rule,
)
from podium.kubernetes.validation.names import (
    dns1035_problems,
    port_number_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import Errors, built_in_meta_errors, meta_of
from podium.kubernetes.validation.selectors import check_label_selector

_SUPPORTED: Final[Mapping[str, tuple[str, ...]]] = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": MATCH_POLICIES,
}
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_MIN_SEGMENTS: Final = 3
_MAX_TIMEOUT_S: Final = 30
_FORM: Final = "; desired format: https://host[/path]"


def create_errors(configuration: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(configuration), False, subdomain_problems)
    hooks = configuration.get("webhooks") or ()
    conditions = [each for hook in hooks for each in hook.get("matchConditions") or ()]
    if are_too_many(each.get("expression") or "" for each in conditions):
        errors.append(forbidden("webhooks", TOO_MANY))
        return errors
    names: set[str] = set()
    for index, hook in enumerate(hooks):
        path, name = f"webhooks[{index}]", hook.get("name") or ""
        _check_hook(errors, hook, path)
        versions = hook.get("admissionReviewVersions") or ()
        _check_review_versions(errors, versions, f"{path}.admissionReviewVersions")
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        if name:
            names.add(name)
    return errors


def update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    """upstream: the metadata of a changed configuration is looked at as that of a new one."""
    return create_errors(new)


def _check_hook(errors: Errors, hook: JsonObject, path: str) -> None:
    _check_name(errors, hook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        check_rule(errors, rule, f"{path}.rules[{index}]")
    for field, values in _SUPPORTED.items():
        if hook.get(field) is not None and hook[field] not in values:
            errors.append(not_supported(f"{path}.{field}", hook[field], values))
    effects = hook.get("sideEffects")
    if effects is None:
        told = f"must specify one of {', '.join(_SIDE_EFFECTS)}"
        errors.append(required(f"{path}.sideEffects", told))
    elif effects not in _SIDE_EFFECTS:
        errors.append(not_supported(f"{path}.sideEffects", effects, _SIDE_EFFECTS))
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= _MAX_TIMEOUT_S:
        detail = f"the timeout value must be between 1 and {_MAX_TIMEOUT_S} seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", timeout, detail))
    for selector in ("namespaceSelector", "objectSelector"):
        check_label_selector(errors, hook.get(selector), f"{path}.{selector}")
    again = hook.get("reinvocationPolicy")
    if again is not None and again not in REINVOCATION_POLICIES:
        at = f"{path}.reinvocationPolicy"
        errors.append(not_supported(at, again, REINVOCATION_POLICIES))
    _check_client(errors, hook.get("clientConfig") or {}, f"{path}.clientConfig")
    conditions = hook.get("matchConditions") or ()
    check_match_conditions(errors, conditions, Programs.of({}), f"{path}.matchConditions")


def _check_name(errors: Errors, name: str, path: str) -> None:
    if not name:
        errors.append(required(path))
    elif problems := subdomain_problems(name):
        errors.append(invalid(path, name, ",".join(problems)))
    elif name.count(".") + 1 < _MIN_SEGMENTS:
        detail = "should be a domain with at least three segments separated by dots"
        errors.append(invalid(path, name, detail))


def _check_review_versions(errors: Errors, versions: Sequence[str], path: str) -> None:
    accepted = ", ".join(_REVIEW_VERSIONS)
    if not versions:
        errors.append(required(path, f"must specify one of {accepted}"))
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
            continue
        seen.add(version)
        for problem in dns1035_problems(version):
            errors.append(invalid(f"{path}[{index}]", version, problem))
    if seen.isdisjoint(_REVIEW_VERSIONS):
        errors.append(invalid(path, list(versions), f"must include at least one of {accepted}"))


def _check_client(errors: Errors, client: JsonObject, path: str) -> None:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        errors.append(required(path, "exactly one of url or service is required"))
    elif url is not None:
        _check_url(errors, url, f"{path}.url")
    else:
        _check_service(errors, service or {}, f"{path}.service")


def _check_url(errors: Errors, url: str, path: str) -> None:
    problem = url_problem(url)
    if problem:
        told = f"url must be a valid URL: parse {go_quote(url)}: {problem}{_FORM}"
        errors.append(required(path, told))
        return
    parts = urlsplit(url)
    if parts.scheme != "https":
        detail = f"'https' is the only allowed URL scheme{_FORM}"
        errors.append(invalid(path, parts.scheme, detail))
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, "", f"host must be specified{_FORM}"))
    if at:
        detail = "user information is not permitted in the URL"
        errors.append(invalid(path, user, detail))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        detail = "query parameters are not permitted in the URL"
        errors.append(invalid(path, parts.query, detail))


def _check_service(errors: Errors, service: JsonObject, path: str) -> None:
    # upstream: the two are mixed up; a missing name is told of the namespace.
    if not service.get("namespace"):
        errors.append(required(f"{path}.name"))
    if not service.get("name"):
        errors.append(required(f"{path}.namespace"))
    port = service.get("port") or 0
    if problems := port_number_problems(port):
        detail = f"port is not valid: {', '.join(problems)}"
        errors.append(invalid(f"{path}.port", port, detail))
    written = service.get("path") or ""
    if written not in ("", "/"):
        _check_path(errors, written, f"{path}.path")


def _check_path(errors: Errors, written: str, path: str) -> None:
    if written == "//":
        errors.append(invalid(path, written, "segment[0] may not be empty"))
        return
    if not written.startswith("/"):
        errors.append(invalid(path, written, "must start with a '/'"))
    for index, segment in enumerate(written[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(invalid(path, written, f"segment[{index}] may not be empty"))
            continue
        for problem in subdomain_problems(segment):
            errors.append(invalid(path, written, f"segment[{index}]: {problem}"))
