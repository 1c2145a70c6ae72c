"""Steps of a path inside a field set: written, read, and told to people.

A field is `f:name`. An item of a keyed list is `k:` and the JSON of its key fields in the order of
their names; an item of a set is `v:` and its JSON. In messages the path `f:spec`, `f:containers`,
`k:{"name":"c"}`, `f:image` reads `.spec.containers[name="c"].image`.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Final

from podium.golang.decoding import zero
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import quoted
from podium.golang.shapes import Field, ListOf, Omitted, Scalar, Struct
from podium.golang.value_text import go_value
from podium.kubernetes.rules.field_errors import go_json

_NEEDS_NO_ESCAPES: Final = re.compile(r"[ !#-%'-;=?-\[\]-~]*").fullmatch
"""Matches a text that Go's encoder writes as it is."""


class NotOfItsType(Exception):
    """A value of another type than its schema says, or an item without keys; says why."""


def key_defaults(shape: ListOf) -> tuple[tuple[str, JsonValue], ...]:
    """The key fields of a list by name, with what stands for a missing one (None: nothing)."""
    fields = shape.item.fields if isinstance(shape.item, Struct) else {}
    return tuple((key, _default(fields.get(key))) for key in sorted(shape.keys))


def _default(field: Field | None) -> JsonValue:
    if field is None or field.default is not None:
        return None if field is None else field.default
    # upstream: fields that are always written have their zero as a default in OpenAPI.
    is_plain = isinstance(field.shape, Scalar) and not field.is_pointer
    return zero(field.shape) if is_plain and field.omitted is Omitted.NEVER else None


def keyed_step_of(shape: ListOf) -> Callable[[JsonValue], str]:
    """How an item of a keyed list gives its step; quickest for one key with a plain text."""
    keys = key_defaults(shape)
    (key, _), *more = keys
    head = f'k:{{"{key}":"'

    def step(item: JsonValue) -> str:
        if not more and item.__class__ is dict:
            value = item.get(key)
            if value.__class__ is str and _NEEDS_NO_ESCAPES(value):
                return f'{head}{value}"}}'
        return keyed_step(item, keys)

    return step


def keyed_step(item: JsonValue, keys: tuple[tuple[str, JsonValue], ...]) -> str:
    """The step of an item of a keyed list; raises NotOfItsType."""
    if not isinstance(item, dict):
        kind = "a null element" if item is None else "non-map elements"
        raise NotOfItsType(f"associative list with keys may not have {kind}")
    found = []
    for key, default in keys:
        value = item.get(key, default)
        if value is not None or key in item:
            found.append(f'"{key}":{_as_json(value)}')
    if not found:
        names = " ".join(quoted(key) for key, _ in keys)
        raise NotOfItsType(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return f"k:{{{','.join(found)}}}"


def _as_json(value: JsonValue) -> str:
    """The value as Go's encoder writes it, quickly for what most keys are."""
    if value.__class__ is int:
        return str(value)
    if value.__class__ is str and _NEEDS_NO_ESCAPES(value):
        return f'"{value}"'
    return go_json(value)


def set_step(item: JsonValue) -> str:
    """The step of an item of a set; raises NotOfItsType."""
    if isinstance(item, dict):
        raise NotOfItsType("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NotOfItsType("not supported: associative list with lists as elements")
    if item is None:
        raise NotOfItsType("associative list without keys has an element that's an explicit null")
    return f"v:{_as_json(item)}"


def told(path: Iterable[str]) -> str:
    """A path as messages show it."""
    return "".join(map(told_step, path))


def told_step(step: str) -> str:
    kind, _, rest = step.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        keys: JsonObject = json.loads(rest)
        return f"[{','.join(f'{name}={_told_value(keys[name])}' for name in sorted(keys))}]"
    if kind == "v":
        return f"[={_told_value(json.loads(rest))}]"
    return f"[{rest}]"


def _told_value(value: JsonValue) -> str:
    return quoted(value) if isinstance(value, str) else go_value(value)
