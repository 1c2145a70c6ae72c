"""Who asks, and for what: users as authentication found them, attempts as authorisation names them.

Who asks: a name and groups, as authentication found them.

What somebody wants to do, in the words of authorisation, and how a refusal says it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError
from podium.kubernetes.validation.names import label_problems, subdomain_problems

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
NODES: Final = "system:nodes"
SERVICE_ACCOUNTS: Final = "system:serviceaccounts"
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"
_NODE: Final = "system:node:"


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def may_do_everything(self) -> bool:
        return MASTERS in self.groups


ADMIN: Final = User("admin", "admin", (MASTERS, AUTHENTICATED))
ANONYMOUS: Final = User("system:anonymous", "", (UNAUTHENTICATED,))


def service_account_name(namespace: str, name: str) -> str:
    """The user that a service account is."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def service_account(namespace: str, name: str) -> User:
    """A service account as a user, with the groups that all have."""
    groups = (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}", AUTHENTICATED)
    return User(service_account_name(namespace, name), "", groups)


def service_account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user is, None for others."""
    if not user.startswith(_SERVICE_ACCOUNT):
        return None
    namespace, _, name = user.removeprefix(_SERVICE_ACCOUNT).partition(":")
    if label_problems(namespace) or subdomain_problems(name):
        return None
    return namespace, name


def node_of(user: str) -> str | None:
    """The node that a user is, None for others."""
    if not user.startswith(_NODE):
        return None
    name = user.removeprefix(_NODE)
    return None if subdomain_problems(name) else name


_MARKUP: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class AuthorizationAttributes:
    """A verb and what it is about: a resource, or a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str | None = None
    """Of requests that are not about a resource; None of all others."""

    @property
    def full_resource(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def forbidden_status_error(
    user: User, attempt: AuthorizationAttributes, why: str = ""
) -> StatusError:
    """The refusal of an attempt; the resource need not be served."""
    told = _describe_attempt(user, attempt).translate(
        _MARKUP
    )  # upstream: no error may look like HTML
    if why:
        told = f"{told}: {why}"
    if attempt.path is not None:
        return status_errors.forbidden_path(told)
    return status_errors.forbidden(
        unserved_resource(attempt.group, attempt.resource), attempt.name, told
    )


def _describe_attempt(user: User, attempt: AuthorizationAttributes) -> str:
    who = f"User {go_quote(user.name)} cannot {attempt.verb}"
    if attempt.path is not None:
        return f"{who} path {go_quote(attempt.path)}"
    where = (
        f"in the namespace {go_quote(attempt.namespace)}"
        if attempt.namespace
        else "at the cluster scope"
    )
    what = f"resource {go_quote(attempt.full_resource)} in API group {go_quote(attempt.group)}"
    return f"{who} {what} {where}"


def unserved_resource(group: str, plural: str) -> ApiResource:
    """Stands in errors for a resource that may not be there."""
    return ApiResource(group, "", "", plural, "", namespaced=False)
