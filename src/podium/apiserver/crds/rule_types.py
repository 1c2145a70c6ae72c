"""The types by which rules see the values of a structural schema, and the values as such.

Names that are no names in an expression are written otherwise there: `__dash__` for a dash, and
words of the language between underscores. Values are converted on the way in: numbers to floats,
times and durations to what the language has for them, and names as above.
"""

import base64
import binascii
from typing import Any, Final

from podium.apiserver.json_values import JsonObject, JsonValue
from podium.cel import types
from podium.cel.errors import CelError
from podium.cel.functions.moments import parse_duration, parse_timestamp
from podium.cel.types import Type

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
_SCALARS: Final = {
    "boolean": types.BOOL,
    "integer": types.INT,
    "number": types.DOUBLE,
    "string": types.STRING,
}
_TEXTS: Final = {
    "byte": types.BYTES,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
    "duration": types.DURATION,
}
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
    return {**schema, "properties": {**(schema.get("properties") or {}), **_ROOT}}


def escaped(name: str) -> str:
    """A field's name as expressions write it."""
    if name in _WORDS:
        return f"__{name}__"
    for symbol, written in _SYMBOLS:
        name = name.replace(symbol, written)
    return name


def type_of(schema: JsonObject, name: str, fields: Fields) -> Type:
    """The type of a schema's values; the fields of objects are added to `fields`."""
    if schema.get("x-kubernetes-int-or-string"):
        return types.DYN
    kind = schema.get("type")
    if kind == "string":
        return _TEXTS.get(schema.get("format") or "", types.STRING)
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "array":
        return types.list_of(type_of(schema.get("items") or {}, f"{name}.@idx", fields))
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        return types.map_of(types.STRING, type_of(additional, f"{name}.@elem", fields))
    properties = schema.get("properties")
    if kind != "object" or not properties:
        return types.DYN
    found = types.object_type(name)
    fields[found] = {
        escaped(field): type_of(below, f"{name}.{field}", fields)
        for field, below in properties.items()
    }
    return found


def value_of(value: JsonValue, schema: JsonObject) -> Any:
    """A value as rules see it; CelError if it is not of its format."""
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return value
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
                    escaped(key): value_of(item, properties[key])
                    for key, item in value.items()
                    if key in properties
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
