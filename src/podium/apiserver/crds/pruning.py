"""Taking out of an object what its schema does not know, and nulls that it does not allow.

A null in a field that may not be null counts as absent; if the field has a default the null stays
until defaults are set. Metadata is no matter of the schema: it is read like that of every object.
"""

from typing import Final

from podium.apiserver.crds.structural import EMBEDDED_FIELDS, Node
from podium.golang.json_values import JsonObject, JsonValue, copied
from podium.golang.quoting import quoted
from podium.kubernetes.schema.catalogue import built_in_struct
from podium.kubernetes.schema.decoding import Decoded, DecodeError, read_struct

MAX_VALUES: Final = 100_000
"""Of one custom object: fields, entries and items."""


def pruned(obj: JsonObject, root: Node) -> Decoded:
    """A copy with known fields only; raises DecodeError for metadata that is none, and for objects
    of too many values: each is looked at several times."""
    _check_count(obj)
    out = copied(obj)
    unknown: list[str] = []
    metadata = out.pop("metadata", None)
    _prune_object(out, root, "", unknown, is_embedded=True)
    _drop_nulls(out, root)
    problems: list[str] = []
    if metadata is not None:
        read = read_struct(
            metadata, built_in_struct("meta", "ObjectMeta"), (None, "metadata", None)
        )
        out["metadata"] = read.value
        problems += read.problems
    problems += [f"unknown field {quoted(path)}" for path in sorted(unknown)]
    return Decoded(out, problems)


def _check_count(obj: JsonObject) -> None:
    pending: list[dict[str, JsonValue] | list[JsonValue]] = [obj]
    count = 0
    while pending:
        value = pending.pop()
        count += len(value)
        if count > MAX_VALUES:
            told = f"exceeded max number of values ({MAX_VALUES})"
            raise DecodeError(told, told)
        inner = value.values() if isinstance(value, dict) else value
        pending += (each for each in inner if isinstance(each, (dict, list)))


def _prune(value: JsonValue, node: Node | None, path: str, unknown: list[str]) -> None:
    if isinstance(value, dict):
        if node is None:
            unknown += [f"{path}.{key}" for key in value]
            value.clear()
        else:
            _prune_object(value, node, path, unknown, is_embedded=node.is_embedded)
    elif isinstance(value, list):
        below = node.items if node is not None else None
        keeps = node is not None and node.preserves_unknown
        for index, item in enumerate(value):
            if not keeps or below is not None:
                _prune(item, below, f"{path}[{index}]", unknown)


def _prune_object(
    value: JsonObject, node: Node, path: str, unknown: list[str], *, is_embedded: bool
) -> None:
    for key in list(value):
        if is_embedded and key in EMBEDDED_FIELDS:
            continue
        place = f"{path}.{key}" if path else key
        below = node.below(key)
        if below is not None:
            _prune(value[key], below, place, unknown)
        elif node.allows_additional:
            _prune(value[key], None, place, unknown)
        elif not node.preserves_unknown:
            unknown.append(place)
            del value[key]


def _drop_nulls(value: JsonValue, node: Node | None) -> None:
    if isinstance(value, dict):
        for key in list(value):
            below = node.below(key) if node is not None else None
            is_refused = below is not None and not below.is_nullable and not below.has_default
            if value[key] is None and is_refused:
                del value[key]
            else:
                _drop_nulls(value[key], below)
    elif isinstance(value, list):
        below = node.items if node is not None else None
        for item in value:
            _drop_nulls(item, below)
