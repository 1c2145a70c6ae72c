"""Lists that are sets or maps may not have the same item, or the same keys, twice."""

from collections.abc import Hashable, Sequence

import msgspec

from podium.apiserver.crds.structural import Node
from podium.golang.json_values import JsonValue, ReadOnlyJson
from podium.kubernetes.rules.field_errors import FieldError, duplicate, go_json, invalid


def repeated_items(value: JsonValue, node: Node | None, path: str = "") -> list[FieldError]:
    """One error for each value that occurs twice, at its second place."""
    if node is None:
        return []
    found: list[FieldError] = []
    if isinstance(value, dict):
        for key, item in value.items():
            if key in node.properties:
                below = f"{path}.{key}" if path else key
                found += repeated_items(item, node.properties[key], below)
            elif node.additional is not None:
                found += repeated_items(item, node.additional, f"{path}[{key}]")
    elif isinstance(value, list):
        if node.list_type == "set":
            found += _repeated(value, value, path)
        elif node.list_type == "map":
            found += _repeated_keys(value, node, path)
        for index, item in enumerate(value):
            found += repeated_items(item, node.items, f"{path}[{index}]")
    return found


def key_of_item(item: JsonValue, keys: Sequence[str]) -> Hashable:
    """What tells an item of a list that is a map from all others."""
    if not isinstance(item, dict):
        return ""
    values = [item.get(key) for key in keys]
    if any(isinstance(value, (dict, list)) for value in values):
        return go_json(values)
    return tuple((value.__class__, value) for value in values)


def _repeated_keys(value: list[JsonValue], node: Node, path: str) -> list[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            told = "must be an object for an array of list-type map"
            return [invalid(f"{path}[{index}]", item, told)]
    objects = [item if isinstance(item, dict) else {} for item in value]
    keys = [{key: item[key] for key in node.list_keys if key in item} for item in objects]
    return _repeated(keys, keys, path)


def _repeated(
    identities: Sequence[ReadOnlyJson], shown: Sequence[ReadOnlyJson], path: str
) -> list[FieldError]:
    times: dict[bytes, int] = {}
    found = []
    for index, identity in enumerate(identities):
        written = msgspec.json.encode(identity)
        times[written] = times.get(written, 0) + 1
        if times[written] == 2:
            found.append(duplicate(f"{path}[{index}]", shown[index]))
    return found
