"""CustomResourceDefinitions of the kinds that plugins of the collection read.

Only clusters that Podium builds itself need them; elsewhere whoever installed the kind has applied
one.
"""

from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.plugin import KubeObject

_QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
QUANTITY: Final[JsonObject] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": _QUANTITY,
    "x-kubernetes-int-or-string": True,
}
QUANTITIES: Final[JsonObject] = {"type": "object", "additionalProperties": QUANTITY}
TEXT: Final[JsonObject] = {"type": "string"}
NUMBER: Final[JsonObject] = {"type": "integer", "format": "int64"}
AGE: Final = ("Age", "date", ".metadata.creationTimestamp")


def object_schema(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties}


def list_schema(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def definition(
    struct: type[KubeObject],
    plural: str,
    *,
    properties: Mapping[str, JsonObject],
    namespaced: bool = True,
    short_names: tuple[str, ...] = (),
    columns: tuple[tuple[str, str, str], ...] = (AGE,),
    approved: str = "",
) -> JsonObject:
    """The manifest to apply; `properties` are those of the kind's own parts, and a status is a
    subresource. Columns are (name, type, JSONPath). `approved` is where a group that belongs to
    Kubernetes was approved."""
    kind = struct().kind
    group, _, version = struct().api_version.rpartition("/")
    served: JsonObject = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": object_schema(
                apiVersion=TEXT, kind=TEXT, metadata={"type": "object"}, **properties
            )
        },
        "additionalPrinterColumns": [
            {"name": name, "type": type_name, "jsonPath": path} for name, type_name, path in columns
        ],
    }
    if "status" in properties:
        served["subresources"] = {"status": {}}
    metadata: JsonObject = {"name": f"{plural}.{group}"}
    if approved:
        metadata["annotations"] = {"api-approved.kubernetes.io": approved}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": list(short_names),
            },
            "versions": [served],
        },
    }
