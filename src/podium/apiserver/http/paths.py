"""What a path means: a resource, an object, a subresource, or none of these.

The meaning is read from the path alone, before anything is looked up: authorisation is asked about
resources that do not exist, too.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

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
    watches: bool = False
    """The old way to ask for a watch: `/api/v1/watch/...`."""
    too_long: bool = False
    """There is more in the path than an object's subresource."""


def parts_of(path: str) -> list[str]:
    """The names between the slashes.

    Empty ones do not count, except for a namespace: `namespaces//pods` are those of all.
    """
    parts = path.strip("/").split("/")
    if "%" in path:
        parts = [unquote(part) for part in parts]
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
    watches = rest[0] == "watch" and len(rest) > 1
    if watches:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not _is_part_of_namespace(group, rest):
        namespace, rest = rest[1], rest[2:]
    return Target(
        group,
        version,
        rest[0],
        namespace,
        rest[1] if len(rest) > 1 else "",
        rest[2] if len(rest) > 2 else "",
        watches,
        len(rest) > 3,
    )


def _is_part_of_namespace(group: str, rest: list[str]) -> bool:
    return group == "" and len(rest) == 3 and rest[2] in _NAMESPACE_PARTS


def verb_of(method: str, target: Target, *, watch: bool) -> str:
    """The verb by which authorisation knows a request."""
    match method:
        case "POST":
            return "create"
        case "PUT":
            return "update"
        case "PATCH":
            return "patch"
        case "DELETE":
            return "delete" if target.name else "deletecollection"
        case "GET" | "HEAD":
            if target.name:
                return "get"
            return "watch" if watch or target.watches else "list"
        case _:
            return method.lower()
