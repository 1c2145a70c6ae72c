"""Defaults of a structural schema, filled in from the outside to the inside."""

from podium.apiserver.crds.structural import Node
from podium.apiserver.json_values import JsonValue, copied


def fill_defaults(value: JsonValue, node: Node | None) -> None:
    """In place: missing fields, and nulls that may not be null, get their defaults."""
    if node is None:
        return
    if isinstance(value, dict):
        for key, below in node.properties.items():
            if below.has_default and (key not in value or _is_refused_null(value[key], below)):
                value[key] = copied(below.default)
        for key in value:
            inner = node.below(key)
            if key not in node.properties and _is_refused_null(value[key], inner):
                value[key] = copied(inner.default) if inner is not None else None
            fill_defaults(value[key], inner)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if node.items is not None and _is_refused_null(item, node.items):
                value[index] = copied(node.items.default)
            fill_defaults(value[index], node.items)


def _is_refused_null(value: JsonValue, node: Node | None) -> bool:
    return value is None and node is not None and not node.is_nullable
