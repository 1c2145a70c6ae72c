"""What a path means: a resource, an object, a subresource, or none of these.

The meaning is read from the path alone, before anything is looked up: authorisation is asked about
resources that do not exist, too. Authorisation and the handlers go by one reading of the path, so
what was allowed is what is done.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from podium.apiserver.access.users import AuthorizationAttributes
from podium.apiserver.requests import query
from podium.apiserver.requests.query import Parameters
from podium.kubernetes.rules.labels import SelectorError
from podium.kubernetes.rules.selector_text import (
    FieldSelectorError,
    parse_field_selector,
    parse_label_selector,
)
from podium.kubernetes.status_errors import StatusError
from podium.kubernetes.validation.names import path_segment_problems

_VERBS: Final = {
    "DELETE": "delete",
    "GET": "get",
    "HEAD": "get",
    "PATCH": "patch",
    "POST": "create",
    "PUT": "update",
}
_PREFIXES: Final = ("proxy", "watch")
_NAMESPACE_PARTS: Final = frozenset(("status", "finalize"))


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about, in the words of the path."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    prefix: str = ""
    """`watch`, the old way to ask for a watch: `/api/v1/watch/...`; or `proxy`, which nobody
    serves any more."""
    too_long: bool = False
    """There is more in the path than an object's subresource."""

    @property
    def watches(self) -> bool:
        return self.prefix == "watch"


def parts_of(path: str) -> list[str]:
    """The names between the slashes, of which an escaped one is one, too.

    Empty ones do not count, except for a namespace: `namespaces//pods` are those of all.
    """
    parts = unquote(path).strip("/").split("/")
    if "" not in parts:
        return parts
    return [part for place, part in enumerate(parts) if part or parts[place - 1] == "namespaces"]


def target_of(parts: list[str]) -> Target | None:
    """The target of a path below `/api` or `/apis`; None if it names no resource."""
    if len(parts) < 3:
        return None
    if parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    prefix = rest[0] if rest[0] in _PREFIXES and len(rest) > 1 else ""
    if prefix:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_PARTS:
        namespace, rest = rest[1], rest[2:]
    return Target(
        group,
        version,
        rest[0],
        namespace,
        rest[1] if len(rest) > 1 else "",
        rest[2] if len(rest) > 2 else "",
        prefix,
        len(rest) > 3,
    )


def attempt_of(
    method: str, path: str, target: Target | None, parameters: Parameters
) -> AuthorizationAttributes:
    """What a request attempts, in the words of authorisation."""
    if target is None:
        return AuthorizationAttributes(method.lower(), path=unquote(path))
    verb, name = target.prefix or _VERBS.get(method, ""), target.name
    if not name and verb == "get":
        verb, name = _read_list_request(parameters)
    elif not name and verb == "delete":
        verb = "deletecollection"
    # A namespace is in itself: a role in it can grant to see it.
    home = target.name if target.plural == "namespaces" else ""
    return AuthorizationAttributes(
        verb,
        target.group,
        target.plural,
        target.subresource,
        target.namespace or home,
        name,
    )


def _read_list_request(parameters: Parameters) -> tuple[str, str]:
    """Whether a collection is listed or watched, and the one name that is requested, if so.

    upstream: of parameters that cannot be read only `watch` counts.
    """
    verb = "watch" if query.flag(parameters, "watch") else "list"
    if not parameters:
        return verb, ""
    try:
        for number in ("limit", "timeoutSeconds"):
            query.integer(parameters, number)
        parse_label_selector(query.text(parameters, "labelSelector"))
        terms = parse_field_selector(query.text(parameters, "fieldSelector"))
    except (FieldSelectorError, SelectorError, StatusError):
        return verb, ""
    for field, equal, value in terms:
        if field == "metadata.name" and equal:
            return verb, "" if path_segment_problems(value) else value
    return verb, ""
