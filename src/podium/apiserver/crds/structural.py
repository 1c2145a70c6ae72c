"""A structural schema as a tree of typed nodes.

The schema in a definition is JSON with many optional keys; reading it once gives the parts that
decide about fields (types, properties, items, extensions) names, and leaves the conditions on
values as they were written.
"""

from dataclasses import dataclass, field
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue

EMBEDDED_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """What a schema says about one value."""

    type: str = ""
    properties: dict[str, "Node"] = field(default_factory=dict)
    items: "Node | None" = None
    additional: "Node | None" = None
    """The schema of keys that are no properties; None: there are none."""
    allows_additional: bool = False
    is_nullable: bool = False
    has_default: bool = False
    default: JsonValue = None
    preserves_unknown: bool = False
    is_embedded: bool = False
    """An object with apiVersion, kind and metadata of its own."""
    is_int_or_string: bool = False
    list_type: str = ""
    list_keys: tuple[str, ...] = ()
    map_type: str = ""
    listed_texts: frozenset[str] = frozenset()
    """The texts among the values that an `enum` allows."""
    conditions: JsonObject = field(default_factory=dict)
    """The schema as it was written."""

    def below(self, key: str) -> "Node | None":
        """The schema of a key of an object."""
        return self.properties.get(key) or self.additional


def read_schema(schema: JsonObject) -> Node:
    items = schema.get("items")
    additional = schema.get("additionalProperties")
    default = schema.get("default")
    return Node(
        type=schema.get("type") or "",
        properties={
            name: read_schema(each) for name, each in (schema.get("properties") or {}).items()
        },
        items=read_schema(items) if isinstance(items, dict) else None,
        additional=read_schema(additional) if isinstance(additional, dict) else None,
        allows_additional=additional is True,
        is_nullable=bool(schema.get("nullable")),
        has_default=default is not None,
        default=default,
        preserves_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        is_embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        is_int_or_string=bool(schema.get("x-kubernetes-int-or-string")),
        list_type=schema.get("x-kubernetes-list-type") or "",
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        map_type=schema.get("x-kubernetes-map-type") or "",
        listed_texts=frozenset(each for each in schema.get("enum") or () if isinstance(each, str)),
        conditions=schema,
    )
