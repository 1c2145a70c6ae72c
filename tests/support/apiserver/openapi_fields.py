"""The fields of kinds as dotted paths, from the schema that the server publishes.

A path goes through the items of lists without saying so: `spec.containers.ports.hostIP`. The values
of a map (labels, amounts of resources) have no paths of their own.
"""

from collections.abc import Iterator
from typing import Any

from support.apiserver.api_calls import Api, Json

from podium.kubernetes.resources.resource import ApiResource


class PublishedFields:
    """Asks a server for its schemas, one group and version at a time."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._schemas: dict[str, Json] = {}

    def paths(self, resource: ApiResource) -> frozenset[str]:
        """Every field of a kind; its metadata and status included."""
        root = f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"
        if root not in self._schemas:
            found = self._api.get(f"/openapi/v3/{root}")
            self._schemas[root] = found["components"]["schemas"]
        schemas = self._schemas[root]
        [schema] = [
            each
            for each in schemas.values()
            for kind in each.get("x-kubernetes-group-version-kind", ())
            if (kind["group"], kind["version"], kind["kind"])
            == (resource.group, resource.version, resource.kind)
        ]
        return frozenset(_paths(schemas, schema, ""))


def _paths(schemas: Json, schema: Json, at: str) -> Iterator[str]:
    for name, field in _resolve(schemas, schema).get("properties", {}).items():
        yield f"{at}{name}"
        below = field["items"] if field.get("type") == "array" else field
        yield from _paths(schemas, below, f"{at}{name}.")


def _resolve(schemas: Json, schema: Json) -> Json:
    references = [schema, *schema.get("allOf", ())]
    for reference in references:
        if "$ref" in reference:
            found: Json = schemas[reference["$ref"].rpartition("/")[2]]
            return found
    return schema


def written_paths(value: Any, at: str = "") -> Iterator[str]:
    """The paths of what a manifest says, the keys of its maps included."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield f"{at}{name}"
            yield from written_paths(below, f"{at}{name}.")
    elif isinstance(value, list):
        for item in value:
            yield from written_paths(item, at)
