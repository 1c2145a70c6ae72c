"""The types by which rules see the values of a structural schema, and the values as such.

Names that are no names in an expression are written otherwise there: `__dash__` for a dash, and
words of the language between underscores; what cannot be written is not seen. Values are converted
on the way in: numbers to floats, times and durations to what the language has for them, and names
as above. Types are declared with their sizes, from `maxItems`, `maxProperties`, `maxLength`,
`enum` and `format`, or from what a request may hold: the costs of rules are estimated by them.
"""

import base64
import binascii
import re
from typing import Any, Final

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.kubernetes.cel import types
from podium.kubernetes.cel.costs.declarations import DECLARED_KEY, Declared
from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.functions.moments import parse_duration, parse_timestamp
from podium.kubernetes.cel.types import Type

Fields = dict[Type, dict[str, Type]]

_WORDS: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import",
        "in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void",
        "while",
    }
)  # fmt: skip
_SYMBOLS: Final = (
    ("__", "__underscores__"),
    (".", "__dot__"),
    ("-", "__dash__"),
    ("/", "__slash__"),
)
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_./-]*")
_MOMENTS: Final = {
    "date": (types.TIMESTAMP, 12, 12),
    "date-time": (types.TIMESTAMP, 32, 21),
    "duration": (types.DURATION, 32, 3),
}
"""The type of a format, and the most and fewest bytes of a value in JSON."""
MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024
_LONGEST_TEXT: Final = MAX_REQUEST_BYTES - 2
_ROOT: Final[JsonObject] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    },
}


def rooted(schema: JsonObject) -> JsonObject:
    """A schema of whole objects, with what every object has."""
    properties = schema.get("properties") or {}
    if _has_root(properties):
        return schema
    return {**schema, "properties": {**properties, **_ROOT}}


def _has_root(properties: JsonObject) -> bool:
    metadata = properties.get("metadata") or {}
    below = metadata.get("properties") or {}
    wanted = (
        (properties.get("kind"), "string"),
        (properties.get("apiVersion"), "string"),
        (metadata, "object"),
        (below.get("name"), "string"),
        (below.get("generateName"), "string"),
    )
    return all((found or {}).get("type") == kind for found, kind in wanted)


def escaped(name: str) -> str | None:
    """A field's name as expressions write it; None if they cannot."""
    if name in _WORDS:
        return f"__{name}__"
    if _NAME.fullmatch(name) is None:
        return None
    for symbol, written in _SYMBOLS:
        name = name.replace(symbol, written)
    return name


def declare(schema: JsonObject, name: str, fields: Fields) -> Declared | None:
    """The type of a schema's values; the fields of objects are added to `fields`.

    None if the schema does not say enough, in which case rules do not see the values.
    """
    longest = schema.get("maxLength")
    if schema.get("x-kubernetes-int-or-string"):
        size = _LONGEST_TEXT if longest is None else _in_bytes(longest)
        return Declared(types.DYN, size, 1)
    match schema.get("type"):
        case "array":
            return _declare_list(schema, name, fields)
        case "object":
            if isinstance(schema.get("additionalProperties"), dict):
                return _declare_map(schema, name, fields)
            return _declare_object(schema, name, fields)
        case "string":
            return _declare_text(schema)
        case "boolean":
            return Declared(types.BOOL, 0, 4)
        case "number":
            return Declared(types.DOUBLE, 0, 1)
        case "integer":
            return Declared(types.INT, 0, 1)
    return None


def _declare_below(schema: JsonValue, name: str, fields: Fields) -> Declared | None:
    if not isinstance(schema, dict):
        return None
    is_embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    return declare(rooted(schema) if is_embedded else schema, name, fields)


def _declare_list(schema: JsonObject, name: str, fields: Fields) -> Declared | None:
    items = _declare_below(schema.get("items"), f"{name}.@idx", fields)
    if items is None:
        return None
    most = schema.get("maxItems")
    size = (MAX_REQUEST_BYTES - 2) // (items.min_bytes + 1) if most is None else max(most, 0)
    return Declared(types.list_of(items.type), size, element=items)


def _declare_map(schema: JsonObject, name: str, fields: Fields) -> Declared | None:
    values = _declare_below(schema["additionalProperties"], f"{name}.@elem", fields)
    if values is None:
        return None
    most = schema.get("maxProperties")
    size = (MAX_REQUEST_BYTES - 2) // (values.min_bytes + 6) if most is None else max(most, 0)
    kind = types.map_of(types.STRING, values.type)
    return Declared(kind, size, key=DECLARED_KEY, element=values)


def _declare_object(schema: JsonObject, name: str, fields: Fields) -> Declared:
    needed = frozenset(schema.get("required") or ())
    size = 2
    below: dict[str, Declared] = {}
    for field, inner in (schema.get("properties") or {}).items():
        found = _declare_below(inner, f"{name}.{field}", fields)
        if found is None:
            continue
        written = escaped(field)
        if written is not None:
            below[written] = found
        if field in needed and inner.get("default") is None:
            size += len(field.encode()) + found.min_bytes + 4
    kind = types.object_type(name)
    fields[kind] = {field: found.type for field, found in below.items()}
    return Declared(kind, 0, size, fields=below)


def _declare_text(schema: JsonObject) -> Declared:
    longest, form = schema.get("maxLength"), schema.get("format") or ""
    if form == "byte":
        size = _LONGEST_TEXT if longest is None else max(longest, 0)
        return Declared(types.BYTES, size, 2)
    if form in _MOMENTS:
        kind, size, least = _MOMENTS[form]
        return Declared(kind, size, least)
    if longest is not None:
        return Declared(types.STRING, _in_bytes(longest), 2)
    listed = [len(each.encode()) for each in schema.get("enum") or () if isinstance(each, str)]
    if schema.get("enum"):
        return Declared(types.STRING, max(listed, default=0), 2)
    return Declared(types.STRING, _LONGEST_TEXT, 2)


def _in_bytes(characters: int) -> int:
    return max(characters, 0) * 4


def value_of(value: DecodedValue, schema: JsonObject) -> Any:
    """A value as rules see it; CelError if it is not of its format."""
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return value
    if schema.get("x-kubernetes-embedded-resource"):
        schema = rooted(schema)
    match schema.get("type"):
        case "number":
            return float(value)
        case "string":
            return _text(value, schema.get("format") or "")
        case "array":
            items = schema.get("items") or {}
            return [value_of(item, items) for item in value]
        case "object":
            additional = schema.get("additionalProperties")
            if isinstance(additional, dict):
                return {key: value_of(item, additional) for key, item in value.items()}
            properties: JsonObject = schema.get("properties") or {}
            if properties:
                return {
                    name: value_of(item, properties[key])
                    for key, item in value.items()
                    if key in properties and (name := escaped(key)) is not None
                }
    return value


def _text(value: str, form: str) -> Any:
    if form == "date-time":
        return parse_timestamp(value)
    if form == "date":
        return parse_timestamp(f"{value}T00:00:00Z")
    if form == "duration":
        return parse_duration(value)
    if form == "byte":
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error:
            raise CelError("illegal base64 data") from None
    return value
