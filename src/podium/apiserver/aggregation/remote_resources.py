"""What a service serves, as it tells itself, in the form that clients are told of everything."""

from collections.abc import Sequence
from typing import NamedTuple

from podium.golang.json_values import JsonObject


class RemoteResources(NamedTuple):
    """Of one group version."""

    resources: Sequence[JsonObject] = ()
    """Entries of an APIGroupDiscovery."""
    is_current: bool = False
    """Whether the service has said so just now, and not before it went away."""


def read_resources(document: JsonObject, group: str, version: str) -> list[JsonObject]:
    """The entries of an APIResourceList; what is no such list has none."""
    found: dict[str, JsonObject] = {}
    below: list[JsonObject] = []
    for entry in document.get("resources") or ():
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            continue
        if "/" in entry["name"]:
            below.append(entry)
            continue
        shown: JsonObject = {
            "resource": entry["name"],
            "responseKind": _kind(entry, group, version),
            "scope": "Namespaced" if entry.get("namespaced") else "Cluster",
            "singularResource": entry.get("singularName") or "",
            "verbs": entry.get("verbs") or [],
        }
        for field in ("shortNames", "categories"):
            if entry.get(field):
                shown[field] = entry[field]
        found[entry["name"]] = shown
    for entry in below:
        resource, _, subresource = entry["name"].partition("/")
        if resource in found:
            found[resource].setdefault("subresources", []).append(
                {
                    "subresource": subresource,
                    "responseKind": _kind(entry, group, version),
                    "verbs": entry.get("verbs") or [],
                }
            )
    return list(found.values())


def _kind(entry: JsonObject, group: str, version: str) -> JsonObject:
    return {
        "group": entry.get("group") or group,
        "version": entry.get("version") or version,
        "kind": entry.get("kind") or "",
    }
