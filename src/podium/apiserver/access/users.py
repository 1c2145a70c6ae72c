"""Who asks: a name and groups, as authentication found them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

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
