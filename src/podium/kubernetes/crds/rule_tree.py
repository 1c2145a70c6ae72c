"""The rules of a schema (`x-kubernetes-validations`), compiled, in the places where they are.

A tree has a node for each part of a schema that has rules, or something with rules below it. It
is made once for a definition; a rule is compiled when it is first asked.

The types by which rules see the values of a structural schema, and the values as such. Names
that are no names in an expression are written otherwise there: `__dash__` for a dash, and words
of the language between underscores; what cannot be written is not seen. Values are converted on
the way in: numbers to floats, times and durations to what the language has for them, and names
as above. Types are declared with their sizes, from `maxItems`, `maxProperties`, `maxLength`,
`enum` and `format`, or from what a request may hold: the costs of rules are estimated by them.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.kubernetes.cel import CompileError, types
from podium.kubernetes.cel.costs import Declared, size_of_path
from podium.kubernetes.cel.costs.sizes import DECLARED_KEY
from podium.kubernetes.cel.environment import RULE_FUNCTIONS, Environment, Program
from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.functions.moments import parse_duration, parse_timestamp
from podium.kubernetes.cel.types import BOOL, STRING, Type, optional_of

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


def add_root_fields(schema: JsonObject) -> JsonObject:
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


def escape_field_name(name: str) -> str | None:
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
    return declare(add_root_fields(schema) if is_embedded else schema, name, fields)


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
    for name_below, inner in (schema.get("properties") or {}).items():
        found = _declare_below(inner, f"{name}.{name_below}", fields)
        if found is None:
            continue
        written = escape_field_name(name_below)
        if written is not None:
            below[written] = found
        if name_below in needed and inner.get("default") is None:
            size += len(name_below.encode()) + found.min_bytes + 4
    kind = types.object_type(name)
    fields[kind] = {name_below: found.type for name_below, found in below.items()}
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
        schema = add_root_fields(schema)
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
                    if key in properties and (name := escape_field_name(key)) is not None
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


RULES: Final = "x-kubernetes-validations"
OLD: Final = "oldSelf"


@dataclass(eq=False)
class Rule:
    """One rule. Its programs raise CompileError when they are requested and do not compile."""

    written: JsonObject
    environment: Environment

    @property
    def source(self) -> str:
        return str(self.written.get("rule") or "")

    @property
    def has_optional_old(self) -> bool:
        return bool(self.written.get("optionalOldSelf"))

    @property
    def name(self) -> str:
        """How errors call it."""
        return (self.written.get("message") or "").strip() or self.source.strip()

    @cached_property
    def program(self) -> Program:
        return _compile_rule(self.environment, self.source, BOOL, "", "cel expression")

    @cached_property
    def message(self) -> Program | None:
        expression = self.written.get("messageExpression") or ""
        if not expression:
            return None
        name = "messageExpression"
        return _compile_rule(self.environment, expression, STRING, f"{name} ", name)

    @property
    def is_about_changes(self) -> bool:
        return OLD in self.program.names


def _compile_rule(
    environment: Environment, source: str, wanted: Type, prefix: str, name: str
) -> Program:
    try:
        program = environment.compile(source)
    except CompileError as problem:
        raise CompileError(f"{prefix}compilation failed: {problem}") from None
    if program.result != wanted:
        raise CompileError(f"{name} must evaluate to a {wanted}")
    return program


@dataclass(eq=False)
class RuleNode:
    """A part of a schema with rules in it or below it."""

    schema: JsonObject
    declared: Declared
    rules: list[Rule] = field(default_factory=list)
    properties: dict[str, "RuleNode"] = field(default_factory=dict)
    items: "RuleNode | None" = None
    additional: "RuleNode | None" = None

    @property
    def max_cardinality(self) -> int:
        """How often a value may occur in a request if nothing else bounds it."""
        return MAX_REQUEST_BYTES // (self.declared.min_bytes + 1)


def has_rules(schema: JsonObject) -> bool:
    """Whether there is a rule anywhere in a schema."""
    return bool(schema.get(RULES)) or any(has_rules(below) for _, below in schemas_below(schema))


def schemas_below(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The schemas of the values within a value, with the ends of their paths."""
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        yield "additionalProperties", additional
    for name, below in (schema.get("properties") or {}).items():
        yield f"properties[{name}]", below
    if isinstance(schema.get("items"), dict):
        yield "items", schema["items"]


def build_rule_tree(schema: JsonObject) -> RuleNode | None:
    """The rules of a schema of whole objects; None if there are none."""
    fields: Fields = {}
    schema = add_root_fields(schema)
    declared = declare(schema, "self", fields)
    return None if declared is None else _build(schema, declared, "self", fields)


def _build(schema: JsonObject, declared: Declared, name: str, fields: Fields) -> RuleNode | None:
    node = RuleNode(schema, declared)
    written = schema.get(RULES) or ()
    if written:
        environments = _environments(declared, fields)
        node.rules = [
            Rule(rule, environments[bool(rule.get("optionalOldSelf"))]) for rule in written
        ]
    for key, below in (schema.get("properties") or {}).items():
        path, known = f"{name}.{key}", escape_field_name(key)
        if known is None:  # rules below cannot be reached from above, but they are rules
            found = declare(below, path, fields)
        else:
            found = declared.fields.get(known)
        child = _build(below, found, path, fields) if found is not None else None
        if child is not None:
            node.properties[key] = child
    if declared.element is not None and isinstance(schema.get("items"), dict):
        node.items = _build(schema["items"], declared.element, f"{name}.@idx", fields)
    elif declared.element is not None:
        additional = schema["additionalProperties"]
        node.additional = _build(additional, declared.element, f"{name}.@elem", fields)
    is_needed = node.rules or node.properties or node.items or node.additional
    return node if is_needed else None


def _environments(declared: Declared, fields: Fields) -> tuple[Environment, Environment]:
    """Where `oldSelf` is a value, and where it may be missing."""
    first, second = (
        Environment(
            {"self": declared.type, OLD: old},
            fields,
            RULE_FUNCTIONS,
            size_of_path=size_of_path(declared),
            is_metered=True,
            has_bindings=False,
        )
        for old in (declared.type, optional_of(declared.type))
    )
    return first, second
