"""Defaults of a structural schema, filled in from the outside to the inside."""

from podium.apiserver.crds.allowances import spend_checks
from podium.apiserver.crds.structural import Node
from podium.golang.json_values import JsonValue, copied


def fill_defaults(value: JsonValue, node: Node | None) -> None:
    """In place: missing fields, and nulls that may not be null, get their defaults.

    Each value that is filled in counts as a check.
    """
    if node is None:
        return
    if isinstance(value, dict):
        for key, below in node.properties.items():
            if below.has_default and (key not in value or _is_refused_null(value[key], below)):
                value[key] = _default_of(below)
        for key in value:
            inner = node.below(key)
            if key not in node.properties and _is_refused_null(value[key], inner):
                value[key] = _default_of(inner) if inner is not None else None
            fill_defaults(value[key], inner)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if node.items is not None and _is_refused_null(item, node.items):
                value[index] = _default_of(node.items)
            fill_defaults(value[index], node.items)


def _default_of(node: Node) -> JsonValue:
    spend_checks(_count(node.default))
    return copied(node.default)


def _count(value: JsonValue) -> int:
    """How many values there are in a value, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


def _is_refused_null(value: JsonValue, node: Node | None) -> bool:
    return value is None and node is not None and not node.is_nullable
