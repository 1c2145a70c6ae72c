"""Authorisation: masters may do everything, everybody else what roles grant.

What is built in here is the part of Kubernetes' own policy that lets anybody look at health and
version, users look at discovery and at themselves, and the scheduler do its work. Beyond that count
the roles that are stored (`grants.py`).
"""

from dataclasses import dataclass
from typing import Final

from podium.apiserver import status_errors
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.users import AUTHENTICATED, User
from podium.apiserver.resources.resource import Resource

_PUBLIC: Final = ("/healthz", "/livez", "/readyz", "/version")
_DISCOVERY: Final = ("/api", "/apis", "/openapi")
_SELF_REVIEWS: Final = frozenset(
    (
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
    )
)
_SCHEDULER: Final = "system:kube-scheduler"
_READ: Final = frozenset(("get", "list", "watch"))
_SCHEDULER_READS: Final = frozenset(
    (
        ("", "nodes"), ("", "pods"), ("", "namespaces"), ("", "services"),
        ("", "replicationcontrollers"), ("", "persistentvolumes"), ("", "persistentvolumeclaims"),
        ("apps", "replicasets"), ("apps", "statefulsets"), ("policy", "poddisruptionbudgets"),
        ("storage.k8s.io", "csinodes"), ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csistoragecapacities"), ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "volumeattachments"), ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceslices"), ("resource.k8s.io", "deviceclasses"),
    )
)  # fmt: skip
_SCHEDULER_WRITES: Final = frozenset(
    (
        ("create", "", "pods/binding"), ("create", "", "bindings"), ("delete", "", "pods"),
        ("patch", "", "pods/status"), ("update", "", "pods/status"), ("create", "", "events"),
        ("patch", "", "events"), ("update", "", "events"), ("create", "events.k8s.io", "events"),
        ("patch", "events.k8s.io", "events"), ("update", "events.k8s.io", "events"),
        ("create", "coordination.k8s.io", "leases"), ("get", "coordination.k8s.io", "leases"),
        ("update", "coordination.k8s.io", "leases"), ("patch", "", "persistentvolumeclaims"),
        ("update", "", "persistentvolumeclaims"), ("update", "", "persistentvolumes"),
        ("patch", "", "persistentvolumes"), ("update", "resource.k8s.io", "resourceclaims"),
        ("patch", "resource.k8s.io", "resourceclaims"),
        ("update", "resource.k8s.io", "resourceclaims/status"),
        ("patch", "resource.k8s.io", "resourceclaims/status"),
        ("create", "authentication.k8s.io", "tokenreviews"),
        ("create", "authorization.k8s.io", "subjectaccessreviews"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """What somebody wants to do to a resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def full_resource(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Verdict:
    allowed: bool
    reason: str = ""


def judge(user: User, attempt: Attempt, grants: Grants | None = None) -> Verdict:
    """Whether a user may do something to a resource."""
    if user.may_do_everything:
        return Verdict(True)
    asks_about_itself = (attempt.group, attempt.resource) in _SELF_REVIEWS
    if AUTHENTICATED in user.groups and attempt.verb == "create" and asks_about_itself:
        return Verdict(True)
    if user.name == _SCHEDULER and _scheduler_may(attempt):
        return Verdict(
            True,
            f'RBAC: allowed by ClusterRoleBinding "{_SCHEDULER}" of ClusterRole "{_SCHEDULER}" to'
            f' User "{_SCHEDULER}"',
        )
    if grants is None:
        return Verdict(False)
    reason = grants.resource_reason(
        user,
        attempt.verb,
        attempt.group,
        attempt.full_resource,
        attempt.namespace,
        attempt.name,
    )
    return Verdict(bool(reason), reason)


def _scheduler_may(attempt: Attempt) -> bool:
    if attempt.verb in _READ and (attempt.group, attempt.full_resource) in _SCHEDULER_READS:
        return True
    return (attempt.verb, attempt.group, attempt.full_resource) in _SCHEDULER_WRITES


def judge_path(user: User, verb: str, path: str, grants: Grants | None = None) -> Verdict:
    """Whether a user may do something to a path that is no resource."""
    if user.may_do_everything:
        return Verdict(True)
    if verb == "get" and _is_below(path, _PUBLIC):
        return Verdict(True)
    if verb == "get" and AUTHENTICATED in user.groups and _is_below(path, _DISCOVERY):
        return Verdict(True)
    reason = grants.path_reason(user, verb, path) if grants is not None else ""
    return Verdict(bool(reason), reason)


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)


def require(user: User, attempt: Attempt, resource: Resource, grants: Grants | None = None) -> None:
    """Refuse what a user may not do to a resource; `resource` need not be served."""
    if judge(user, attempt, grants).allowed:
        return
    where = (
        f'in the namespace "{attempt.namespace}"' if attempt.namespace else "at the cluster scope"
    )
    raise status_errors.forbidden(
        resource,
        attempt.name,
        f'User "{user.name}" cannot {attempt.verb} resource "{attempt.full_resource}" in API group'
        f' "{attempt.group}" {where}',
    )


def require_path(user: User, verb: str, path: str, grants: Grants | None = None) -> None:
    if not judge_path(user, verb, path, grants).allowed:
        raise status_errors.forbidden_path(f'User "{user.name}" cannot {verb} path "{path}"')
