"""What stored roles grant: roles and cluster roles, given to somebody by bindings.

Masters need none of it. A role binding grants within its namespace, whatever kind of role it names;
a cluster role binding grants everywhere, and paths that are no resources. Of the roles that a
cluster starts with only `cluster-admin` is known.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from podium.api.go_quoting import quoted
from podium.apiserver.access.users import User
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.json_values import JsonObject

_GROUP: Final = "rbac.authorization.k8s.io"
_ADMINISTRATION: Final = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_BUILT_IN: Final = {"cluster-admin": _ADMINISTRATION}

Rules = Sequence[JsonObject]


class Grant(NamedTuple):
    """A role that somebody has, and by what."""

    rules: Rules
    reason: str


def _objects(found: Sequence[JsonObject]) -> list[JsonObject]:
    return list(found)


def _by_name(roles: Sequence[JsonObject]) -> dict[tuple[str, str], Rules]:
    return {
        (role["metadata"].get("namespace") or "", role["metadata"]["name"]): role.get("rules") or ()
        for role in roles
    }


class Grants:
    """Reads roles and bindings as they are now."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def resource_reason(
        self, user: User, verb: str, group: str, resource: str, namespace: str, name: str
    ) -> str:
        """Why somebody may do something to a resource; empty if nothing grants it."""
        for grant in self.of(user, namespace):
            if any(_grants(rule, verb, group, resource, name) for rule in grant.rules):
                return grant.reason
        return ""

    def path_reason(self, user: User, verb: str, path: str) -> str:
        """The same for a path that is no resource."""
        for grant in self.of(user, ""):
            if any(_grants_path(rule, verb, path) for rule in grant.rules):
                return grant.reason
        return ""

    def of(self, user: User, namespace: str) -> Iterator[Grant]:
        """The roles that somebody has in a namespace, those for the whole cluster first."""
        bindings = self._lookup.derived(_GROUP, "clusterrolebindings", _objects)
        for binding in bindings:
            yield from self._granted(user, binding, "")
        if not namespace:
            return
        for binding in self._lookup.derived(_GROUP, "rolebindings", _objects):
            if binding["metadata"].get("namespace") == namespace:
                yield from self._granted(user, binding, namespace)

    def _granted(self, user: User, binding: JsonObject, namespace: str) -> Iterator[Grant]:
        for subject in binding.get("subjects") or ():
            if not _is(user, subject, namespace):
                continue
            role = binding.get("roleRef") or {}
            kind, name = role.get("kind") or "", role.get("name") or ""
            rules = self._rules(kind, name, namespace)
            if rules is None:
                return
            bound = binding["metadata"]["name"]
            shown = quoted(f"{bound}/{namespace}" if namespace else bound)
            holder = "RoleBinding" if namespace else "ClusterRoleBinding"
            given = f"{holder} {shown} of {kind} {quoted(name)} to {_described(subject, namespace)}"
            yield Grant(rules, f"RBAC: allowed by {given}")
            return

    def _rules(self, kind: str, name: str, namespace: str) -> Rules | None:
        if kind == "Role":
            return self._lookup.derived(_GROUP, "roles", _by_name).get((namespace, name))
        stored = self._lookup.derived(_GROUP, "clusterroles", _by_name).get(("", name))
        return _BUILT_IN.get(name) if stored is None else stored


def _is(user: User, subject: JsonObject, namespace: str) -> bool:
    name = subject.get("name") or ""
    match subject.get("kind"):
        case "User":
            return user.name == name
        case "Group":
            return name in user.groups
        case "ServiceAccount":
            home = subject.get("namespace") or namespace
            return user.name == f"system:serviceaccount:{home}:{name}"
    return False


def _described(subject: JsonObject, namespace: str) -> str:
    name = subject.get("name") or ""
    if subject.get("kind") == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f"{subject.get('kind')} {quoted(name)}"


def _grants(rule: JsonObject, verb: str, group: str, resource: str, name: str) -> bool:
    """`resource` may have a part, such as `pods/status`."""
    verbs, groups = rule.get("verbs") or (), rule.get("apiGroups") or ()
    if not {"*", verb} & set(verbs) or not {"*", group} & set(groups):
        return False
    wanted = {"*", resource}
    if "/" in resource:
        wanted.add(f"*/{resource.partition('/')[2]}")
    if not wanted & set(rule.get("resources") or ()):
        return False
    names = rule.get("resourceNames") or ()
    return not names or name in names


def _grants_path(rule: JsonObject, verb: str, path: str) -> bool:
    if not {"*", verb} & set(rule.get("verbs") or ()):
        return False
    return any(
        url in ("*", path) or (url.endswith("*") and path.startswith(url[:-1]))
        for url in rule.get("nonResourceURLs") or ()
    )
