"""Nobody reads by a policy what they may not read themselves: the guard of its parameters.

Whoever writes an admission policy with a kind of parameters must be allowed to get all objects of
that kind; whoever writes a binding must be allowed to get, or to list, those that it names.
"""

from collections.abc import Callable
from typing import Final

from podium.apiserver.access.attempts import Attempt
from podium.apiserver.access.authorisation import judge
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.users import User
from podium.golang.json_values import JsonObject
from podium.golang.value_text import go_value
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.field_errors import FieldError, forbidden

GROUP: Final = "admissionregistration.k8s.io"
_POLICIES: Final = frozenset({"mutatingadmissionpolicies", "validatingadmissionpolicies"})
_BINDINGS: Final = {
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
}

FindPolicy = Callable[[str, str], JsonObject | None]
"""A policy by the plural name of its kind and its own."""
FindResource = Callable[[str, str], Resource | None]
"""A resource by the apiVersion and the kind of its objects."""


def parameter_errors(
    user: User,
    grants: Grants,
    resource: Resource,
    new: JsonObject,
    old: JsonObject | None,
    find_policy: FindPolicy,
    find_resource: FindResource,
) -> list[FieldError]:
    """What a policy or binding would read that its writer may not; others are let through."""
    if resource.plural not in _POLICIES and resource.plural not in _BINDINGS:
        return []
    spec, before = new["spec"], (old or {}).get("spec") or {}
    if resource.plural in _POLICIES:
        kind = spec.get("paramKind")
        if kind is None or kind == before.get("paramKind"):
            return []
        group, plural, _ = _served(kind, find_resource)
        if judge(user, Attempt("get", group, plural, "", "*", "*"), grants).allowed:
            return []
        told = f"(kind={kind['kind']}, apiVersion={kind['apiVersion']})"
        why = f'must have "get" permission on all objects of the referenced paramKind {told}'
        return [forbidden("spec.paramKind", f"user {_shown(user)} {why}")]
    reference, name = spec.get("paramRef"), spec.get("policyName") or ""
    is_same = (reference, name) == (before.get("paramRef"), before.get("policyName"))
    if reference is None or is_same:
        return []
    policy = find_policy(_BINDINGS[resource.plural], name)
    kind = ((policy or {}).get("spec") or {}).get("paramKind")
    group, plural, is_served = _served(kind, find_resource) if kind else ("*", "*", True)
    verb = "get" if reference.get("name") else "list"
    wanted = Attempt(
        verb, group, plural, "", reference.get("namespace") or "", reference.get("name") or ""
    )
    if judge(user, wanted, grants).allowed:
        return []
    lacks = f'does not have "{verb}" permission for all groups, versions and resources'
    least = "to determine minimum required permissions and user"
    if policy is None:
        why = f"unable to get policy {name} {least} {_shown(user)} {lacks}"
    elif kind is not None and not is_served:
        shown = f"&ParamKind{{APIVersion:{kind['apiVersion']},Kind:{kind['kind']},}}"
        why = f"unable to resolve paramKind {shown} {least} {_shown(user)} {lacks}"
    else:
        parts = (_shown(user), verb)
        if resource.plural == "mutatingadmissionpolicybindings":
            parts = parts[::-1]  # upstream: in each other's place
        right = f'"{parts[1]}" permission on the object referenced by paramRef'
        why = f"user {parts[0]} does not have {right}"
    return [forbidden("spec.paramRef", why)]


def _served(kind: JsonObject, find_resource: FindResource) -> tuple[str, str, bool]:
    """Group and plural name of a kind, as far as they are known, and whether they are."""
    found = find_resource(kind["apiVersion"], kind["kind"])
    group = kind["apiVersion"].rpartition("/")[0]
    return (group, "*", False) if found is None else (group, found.plural, True)


def _shown(user: User) -> str:
    """As Go prints a user."""
    extra = go_value({key: list(values) for key, values in user.extra.items()})
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] {extra}}}"
