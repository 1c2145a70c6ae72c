"""What somebody wants to do, in the words of authorisation, and how a refusal says it."""

from dataclasses import dataclass
from typing import Final

from podium.apiserver.access.users import User
from podium.golang.quoting import quoted
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.status_errors import StatusError

_MARKUP: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Attempt:
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


def forbidden(user: User, attempt: Attempt, why: str = "") -> StatusError:
    """The refusal of an attempt; the resource need not be served."""
    told = _told(user, attempt).translate(_MARKUP)  # upstream: no error may look like HTML
    if why:
        told = f"{told}: {why}"
    if attempt.path is not None:
        return status_errors.forbidden_path(told)
    return status_errors.forbidden(unserved(attempt.group, attempt.resource), attempt.name, told)


def _told(user: User, attempt: Attempt) -> str:
    who = f"User {quoted(user.name)} cannot {attempt.verb}"
    if attempt.path is not None:
        return f"{who} path {quoted(attempt.path)}"
    where = (
        f"in the namespace {quoted(attempt.namespace)}"
        if attempt.namespace
        else "at the cluster scope"
    )
    what = f"resource {quoted(attempt.full_resource)} in API group {quoted(attempt.group)}"
    return f"{who} {what} {where}"


def unserved(group: str, plural: str) -> Resource:
    """Stands in errors for a resource that may not be there."""
    return Resource(group, "", "", plural, "", namespaced=False)
