"""Nobody gives away rights that they do not have: the guard of roles and bindings.

Whoever writes a role must hold everything in it, or the verb `escalate` on roles; whoever writes a
binding must hold everything in the role that it names, or the verb `bind` on that role. A cluster
role that gathers the rules of others takes the rights of an administrator.
"""

from typing import Final

from podium.apiserver.access.attempts import Attempt
from podium.apiserver.access.authorisation import judge
from podium.apiserver.access.grants import GROUP, Grants, told_lost
from podium.apiserver.access.rules import Rules, described, missing
from podium.apiserver.access.users import User
from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted, quoted_list
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource

_ROLES: Final = ("roles", "clusterroles")
_BINDINGS: Final = ("rolebindings", "clusterrolebindings")
_EVERYTHING: Final[Rules] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_FOR_GARBAGE_COLLECTION: Final = ("finalizers", "managedFields", "ownerReferences")


def confirm_no_escalation(
    user: User,
    attempt: Attempt,
    grants: Grants,
    resource: Resource,
    new: JsonObject,
    old: JsonObject | None,
) -> None:
    """Refuse a role or binding that gives more than its writer has; others are let through.

    `attempt` is the request as it was authorised, `old` the object that is replaced.
    """
    if resource.group != GROUP or user.may_do_everything:
        return
    if old is not None and _without_collected(new) == _without_collected(old):
        return
    guard = _Guard(user, attempt, grants, resource, new["metadata"].get("name") or "")
    if resource.plural in _ROLES:
        guard.confirm_role(new, old)
    elif resource.plural in _BINDINGS:
        guard.confirm_binding(new)


def _without_collected(obj: JsonObject) -> JsonObject:
    """An object without the fields that the garbage collector changes before it goes."""
    metadata = {
        key: value for key, value in obj["metadata"].items() if key not in _FOR_GARBAGE_COLLECTION
    }
    return {**obj, "metadata": metadata}


class _Guard:
    """One write of a role or binding."""

    def __init__(
        self, user: User, attempt: Attempt, grants: Grants, resource: Resource, name: str
    ) -> None:
        self._user = user
        self._attempt = attempt
        self._grants = grants
        self._resource = resource
        self._name = name

    def confirm_role(self, new: JsonObject, old: JsonObject | None) -> None:
        # upstream: asked with the name of the path, which a creation does not have.
        if self._may("escalate", self._resource.plural, self._attempt.name):
            return
        self._require(new.get("rules") or ())
        if _aggregates(new) or (old is not None and _aggregates(old)):
            self._require(
                _EVERYTHING, "must have cluster-admin privileges to use the aggregationRule"
            )

    def confirm_binding(self, new: JsonObject) -> None:
        reference = new.get("roleRef") or {}
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        if kind not in ("Role", "ClusterRole"):
            raise status_errors.internal(f"unsupported role reference kind: {quoted(kind)}")
        plural = f"{kind.lower()}s"
        if self._may("bind", plural, name, reference.get("apiGroup") or ""):
            return
        rules = self._grants.role_rules(kind, name, self._attempt.namespace)
        if rules is None:
            # upstream: named by the resource that is written, not by the one that is not there.
            raise status_errors.not_found(self._resource, name)
        self._require(rules)

    def _may(self, verb: str, plural: str, name: str, group: str = GROUP) -> bool:
        wanted = Attempt(verb, group, plural, namespace=self._attempt.namespace, name=name)
        return judge(self._user, wanted, self._grants).allowed

    def _require(self, wanted: Rules, why: str = "") -> None:
        """Refuse if the user does not hold all these rules."""
        held: list[JsonObject] = []
        lost: list[tuple[str, str]] = []
        for grant in self._grants.of(self._user, self._attempt.namespace):
            held += grant.rules
            if grant.lost is not None:
                lost.append(grant.lost)
        lacking = missing(held, wanted)
        if not lacking:
            return
        if not why:
            why = (
                f"user {quoted(self._user.name)} (groups={quoted_list(self._user.groups)}) is"
                " attempting to grant RBAC permissions not currently held:\n"
                + "\n".join(sorted({described(rule) for rule in lacking}))
            )
            if lost:
                why += f"; resolution errors: [{told_lost(lost, self._resource.group_resource)}]"
        raise status_errors.forbidden(self._resource, self._name, why)


def _aggregates(role: JsonObject) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))
