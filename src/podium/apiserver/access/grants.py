"""What stored roles grant: roles and cluster roles, given to somebody by bindings.

A role binding grants within its namespace, whatever kind of role it names; a cluster role binding
grants everywhere, and paths that are no resources. A binding to a role that is not there grants
nothing, and refusals say so.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from podium.apiserver.access.rules import Rules
from podium.apiserver.access.users import User, service_account_name
from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted
from podium.kubernetes.admission.lookup import Lookup

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
        yield from self._granted(user, "clusterrolebindings", "")
        if namespace:
            yield from self._granted(user, "rolebindings", namespace)

    def role_rules(self, kind: str, name: str, namespace: str) -> Rules | None:
        """The rules of the role that a binding in a namespace means; None if there is none."""
        if kind == "Role":
            return self._lookup.derived(GROUP, "roles", _by_name).get((namespace, name))
        if kind == "ClusterRole":
            return self._lookup.derived(GROUP, "clusterroles", _by_name).get(("", name))
        return None

    def _granted(self, user: User, plural: str, namespace: str) -> Iterator[Grant]:
        subjects = self._lookup.derived(GROUP, plural, _by_subject).get(namespace)
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
            shown = quoted(f"{own}/{namespace}" if namespace else own)
            holder = "RoleBinding" if namespace else "ClusterRoleBinding"
            to = _described(subject, namespace)
            yield Grant(rules, f"{holder} {shown} of {kind} {quoted(name)} to {to}")


def _described(subject: JsonObject, namespace: str) -> str:
    name = subject.get("name") or ""
    if subject.get("kind") == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f"{subject.get('kind')} {quoted(name)}"


def told_lost(lost: Sequence[tuple[str, str]], resource: str = "") -> str:
    """That roles are not there, as Go shows an aggregate of errors.

    upstream: the authoriser names the kind, a write the resource that is written.
    """
    texts = dict.fromkeys(
        f"{resource or f'{kind.lower()}.{GROUP}'} {quoted(name)} not found" for kind, name in lost
    )
    return next(iter(texts)) if len(texts) == 1 else f"[{', '.join(texts)}]"
