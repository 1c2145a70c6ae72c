"""Authorisation: masters may do everything, everybody else what roles grant.

Nothing is built in beyond masters: what anybody may look at, and what the scheduler may do, are
roles that every cluster has from its first moment (`default_roles.py`).

Policy rules: what one grants, and whether some cover others. A rule is as a role writes it:
verbs on resources of groups, perhaps by name, or verbs on paths. Covering takes a rule apart
into rules of one verb, resource and name each: any of these is granted by one rule of the other
side or by none.

What stored roles grant: roles and cluster roles, given to somebody by bindings. A role binding
grants within its namespace, whatever kind of role it names; a cluster role binding grants
everywhere, and paths that are no resources. A binding to a role that is not there grants
nothing, and refusals say so.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple

from podium.apiserver.access.users import (
    AuthorizationAttributes,
    User,
    forbidden_status_error,
    service_account_name,
)
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote, quoted_list
from podium.kubernetes.admission.lookup import Lookup

Rules = Sequence[JsonObject]

MAX_PARTS: Final = 10_000
"""Into so many parts a role is taken apart; what is beyond counts as not covered."""
_FIELDS: Final = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


class Part(NamedTuple):
    """A rule of one verb and one resource or path."""

    verb: str
    group: str = ""
    resource: str = ""
    name: str | None = None
    """None: whatever the name, which is more than an empty one."""
    path: str | None = None


def rule_grants(rule: JsonObject, attempt: AuthorizationAttributes) -> bool:
    """Whether a rule allows an attempt."""
    wanted = Part(attempt.verb, attempt.group, attempt.full_resource, attempt.name, attempt.path)
    return _covers(rule, wanted)


def _has(rule: JsonObject, field: str, wanted: str) -> bool:
    found = rule.get(field) or ()
    return wanted in found or "*" in found


def _has_resource(rule: JsonObject, resource: str) -> bool:
    """`resource` may have a part, such as `pods/status`; a rule may mean that of all resources."""
    if _has(rule, "resources", resource):
        return True
    _, slash, part = resource.partition("/")
    return bool(slash) and f"*/{part}" in (rule.get("resources") or ())


def _grants_path(rule: JsonObject, path: str) -> bool:
    return any(
        url == path or (url.endswith("*") and path.startswith(url.rstrip("*")))
        for url in rule.get("nonResourceURLs") or ()
    )


def find_uncovered_rules(held: Rules, wanted: Rules) -> list[JsonObject]:
    """What of the wanted rules the held ones do not cover, verbs of a resource together."""
    parts_left = MAX_PARTS
    uncovered: list[JsonObject] = []
    for rule in wanted:
        if any(_covers_whole(each, rule) for each in held):
            continue
        parts_left -= _part_count(rule)
        if parts_left < 0:
            uncovered.append(rule)
            continue
        uncovered += [
            _as_rule(part) for part in _parts(rule) if not any(_covers(each, part) for each in held)
        ]
    return _compact_rules(uncovered)


def _covers_whole(held: JsonObject, wanted: JsonObject) -> bool:
    """Whether one rule is wide enough for all of another, without taking it apart."""
    if held.get("resourceNames") or wanted.get("nonResourceURLs"):
        return False
    return all(_has_all(held, wanted, field) for field in ("verbs", "apiGroups", "resources"))


def _has_all(held: JsonObject, wanted: JsonObject, field: str) -> bool:
    found = held.get(field) or ()
    return "*" in found or set(wanted.get(field) or ()) <= set(found)


def _part_count(rule: JsonObject) -> int:
    fields = ("verbs", "apiGroups", "resources")
    by_name = prod(len(rule.get(field) or ()) for field in fields)
    paths = len(rule.get("verbs") or ()) * len(rule.get("nonResourceURLs") or ())
    return by_name * max(1, len(rule.get("resourceNames") or ())) + paths


def _parts(rule: JsonObject) -> Iterator[Part]:
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or (None,)
    for group, resource, verb, name in product(groups, resources, verbs, names):
        yield Part(verb, group, resource, name)
    for path, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield Part(verb, path=path)


def _covers(held: JsonObject, part: Part) -> bool:
    if not _has(held, "verbs", part.verb):
        return False
    if part.path is not None:
        return _grants_path(held, part.path)
    if not _has(held, "apiGroups", part.group) or not _has_resource(held, part.resource):
        return False
    names = held.get("resourceNames")
    return not names or part.name in names


def _as_rule(part: Part) -> JsonObject:
    if part.path is not None:
        return {"nonResourceURLs": [part.path], "verbs": [part.verb]}
    rule: JsonObject = {"apiGroups": [part.group], "resources": [part.resource]}
    if part.name is not None:
        rule["resourceNames"] = [part.name]
    return {**rule, "verbs": [part.verb]}


def _compact_rules(parts: list[JsonObject]) -> list[JsonObject]:
    """The same rules, with the verbs of one resource and name in one rule."""
    whole: list[JsonObject] = []
    simple: dict[tuple[str, str, str | None], JsonObject] = {}
    for rule in parts:
        fields = ("apiGroups", "resources", "resourceNames")
        groups, resources, names = (list(rule.get(field) or ()) for field in fields)
        if len(groups) != 1 or len(resources) != 1 or len(names) > 1:
            whole.append(rule)
            continue
        key = (groups[0], resources[0], names[0] if names else None)
        known = simple.get(key)
        if known is None:
            simple[key] = {**rule, "verbs": list(rule["verbs"])}
        else:
            known["verbs"] += rule["verbs"]
    return [*whole, *simple.values()]


def describe_rule(rule: JsonObject) -> str:
    """A rule in one line: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`."""
    shown = (f"{go}:{quoted_list(rule[name])}" for name, go in _FIELDS.items() if rule.get(name))
    return f"{{{', '.join(shown)}}}"


GROUP: Final = "rbac.authorization.k8s.io"


class Grant(NamedTuple):
    """A role that somebody has, and by what."""

    rules: Rules
    source: str
    """`ClusterRoleBinding "b" of ClusterRole "r" to User "u"`."""
    lost: tuple[str, str] | None = None
    """Kind and name of the role, if there is none."""


class _Bound(NamedTuple):
    """A binding's subject, with its place among all."""

    place: tuple[int, int]
    binding: JsonObject
    subject: JsonObject


_Subjects = dict[tuple[str, str], list[_Bound]]


def _by_subject(bindings: Sequence[JsonObject]) -> dict[str, _Subjects]:
    """Bindings by namespace and by whom they name: a kind, `User` or `Group`, and a name."""
    found: dict[str, _Subjects] = {}
    for index, binding in enumerate(bindings):
        namespace = binding["metadata"].get("namespace") or ""
        subjects = found.setdefault(namespace, {})
        for position, subject in enumerate(binding.get("subjects") or ()):
            key = _key(subject, namespace)
            if key is not None:
                bound = _Bound((index, position), binding, subject)
                subjects.setdefault(key, []).append(bound)
    return found


def _key(subject: JsonObject, namespace: str) -> tuple[str, str] | None:
    kind, name = subject.get("kind") or "", subject.get("name") or ""
    if kind != "ServiceAccount":
        return (kind, name)
    home = subject.get("namespace") or namespace
    return ("User", service_account_name(home, name)) if home else None


def _by_name(roles: Sequence[JsonObject]) -> dict[tuple[str, str], Rules]:
    return {
        (role["metadata"].get("namespace") or "", role["metadata"]["name"]): role.get("rules") or ()
        for role in roles
    }


class Grants:
    """Reads roles and bindings as they are now."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def of(self, user: User, namespace: str) -> Iterator[Grant]:
        """The roles that somebody has in a namespace, those for the whole cluster first."""
        yield from self._find_grants(user, "clusterrolebindings", "")
        if namespace:
            yield from self._find_grants(user, "rolebindings", namespace)

    def role_rules(self, kind: str, name: str, namespace: str) -> Rules | None:
        """The rules of the role that a binding in a namespace means; None if there is none."""
        if kind == "Role":
            return self._lookup.get_derived(GROUP, "roles", _by_name).get((namespace, name))
        if kind == "ClusterRole":
            return self._lookup.get_derived(GROUP, "clusterroles", _by_name).get(("", name))
        return None

    def _find_grants(self, user: User, plural: str, namespace: str) -> Iterator[Grant]:
        subjects = self._lookup.get_derived(GROUP, plural, _by_subject).get(namespace)
        if not subjects:
            return
        keys = {("User", user.name), *(("Group", group) for group in user.groups)}
        bound = sorted(
            (each for key in keys for each in subjects.get(key, ())), key=lambda each: each.place
        )
        last = -1
        for (index, _), binding, subject in bound:
            if index == last:
                continue  # a binding grants once, to the first of its subjects who is meant
            last = index
            role = binding.get("roleRef") or {}
            kind, name = role.get("kind") or "", role.get("name") or ""
            rules = self.role_rules(kind, name, namespace)
            if rules is None:
                yield Grant((), "", (kind, name))
                continue
            own = binding["metadata"]["name"]
            shown = go_quote(f"{own}/{namespace}" if namespace else own)
            holder = "RoleBinding" if namespace else "ClusterRoleBinding"
            to = _describe_subject(subject, namespace)
            yield Grant(rules, f"{holder} {shown} of {kind} {go_quote(name)} to {to}")


def _describe_subject(subject: JsonObject, namespace: str) -> str:
    name = subject.get("name") or ""
    if subject.get("kind") == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f"{subject.get('kind')} {go_quote(name)}"


def told_lost(lost: Sequence[tuple[str, str]], resource: str = "") -> str:
    """That roles are not there, as Go shows an aggregate of errors.

    upstream: the authoriser names the kind, a write the resource that is written.
    """
    texts = dict.fromkeys(
        f"{resource or f'{kind.lower()}.{GROUP}'} {go_quote(name)} not found" for kind, name in lost
    )
    return next(iter(texts)) if len(texts) == 1 else f"[{', '.join(texts)}]"


class AuthorizationVerdict(NamedTuple):
    allowed: bool
    reason: str = ""


def judge(user: User, attempt: AuthorizationAttributes, grants: Grants) -> AuthorizationVerdict:
    """Whether a user may do something, and by what."""
    if user.may_do_everything:
        return AuthorizationVerdict(True)
    lost: list[tuple[str, str]] = []
    for grant in grants.of(user, attempt.namespace):
        if grant.lost is not None:
            lost.append(grant.lost)
        elif any(rule_grants(rule, attempt) for rule in grant.rules):
            return AuthorizationVerdict(True, f"RBAC: allowed by {grant.source}")
    return AuthorizationVerdict(False, f"RBAC: {told_lost(lost)}" if lost else "")


def require(user: User, attempt: AuthorizationAttributes, grants: Grants) -> None:
    """Refuse what a user may not do."""
    allowed, why = judge(user, attempt, grants)
    if not allowed:
        raise forbidden_status_error(user, attempt, why)
