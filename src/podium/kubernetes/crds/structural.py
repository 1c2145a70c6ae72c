"""Structural schemas: read, made into shapes, and applied to objects (pruning and defaults).

A structural schema as a tree of typed nodes. The schema in a definition is JSON with many
optional keys; reading it once gives the parts that decide about fields (types, properties,
items, extensions) names, and leaves the conditions on values as they were written.

A structural schema in the form in which patches and server-side apply know kinds.

Taking out of an object what its schema does not know, and nulls that it does not allow. A null
in a field that may not be null counts as absent; if the field has a default the null stays
until defaults are set. Metadata is no matter of the schema: it is read like that of every
object.

Defaults of a structural schema, filled in from the outside to the inside.
"""

from dataclasses import dataclass, field
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue, copy_json
from podium.golang.quoting import go_quote
from podium.golang.shapes import AnyValue, Field, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.crds.rule_costs import spend_checks
from podium.kubernetes.schema.catalogue import Schema, built_in_struct
from podium.kubernetes.schema.decoding import Decoded, DecodeError, read_struct

EMBEDDED_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})


@dataclass(frozen=True, slots=True, eq=False)
class SchemaNode:
    """What a schema says about one value."""

    type: str = ""
    properties: dict[str, "SchemaNode"] = field(default_factory=dict)
    items: "SchemaNode | None" = None
    additional: "SchemaNode | None" = None
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

    def below(self, key: str) -> "SchemaNode | None":
        """The schema of a key of an object."""
        return self.properties.get(key) or self.additional


def read_schema(schema: JsonObject) -> SchemaNode:
    items = schema.get("items")
    additional = schema.get("additionalProperties")
    default = schema.get("default")
    return SchemaNode(
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


_ANY = AnyValue("interface {}", granular=True)
_WHOLE = AnyValue("interface {}")
_TEXT = Scalar(Form.STRING, "string")
_SCALARS = {
    "string": _TEXT,
    "integer": Scalar(Form.INT64, "int64"),
    "number": Scalar(Form.FLOAT, "float64"),
    "boolean": Scalar(Form.BOOL, "bool"),
}
_INT_OR_STRING = Scalar(Form.INT_OR_STRING, "intstr.IntOrString")


def custom_schema(
    group: str, version: str, kind: str, root: SchemaNode, *, has_status: bool
) -> Schema:
    """The schema of a custom kind, with the fields that every object has."""
    shape = _struct(root, group, kind)
    shape.is_object = True
    metadata = built_in_struct("meta", "ObjectMeta")
    shape.fields.update(
        apiVersion=Field("apiVersion", _TEXT),
        kind=Field("kind", _TEXT),
        metadata=Field("metadata", metadata),
    )
    return Schema(group, version, kind, shape, is_custom=True, has_status=has_status)


def _shape(node: SchemaNode | None, group: str, name: str) -> Shape:
    if node is None:
        return _WHOLE
    if node.is_int_or_string:
        return _INT_OR_STRING
    if node.type == "array":
        return ListOf(
            _shape(node.items, group, name),
            keys=node.list_keys if node.list_type == "map" else (),
            is_set=node.list_type == "set",
        )
    if node.type == "object":
        if not node.properties and node.additional is not None:
            value = _shape(node.additional, group, name)
            return MapOf(value, is_atomic=node.map_type == "atomic")
        return _struct(node, group, name)
    return _SCALARS.get(node.type, _ANY)


def _struct(node: SchemaNode, group: str, name: str) -> Struct:
    fields = {
        key: Field(
            key,
            _shape(each, group, key),
            is_pointer=True,
            default=each.default,
            is_required=key in _required_names(node.conditions),
        )
        for key, each in node.properties.items()
    }
    is_open = node.preserves_unknown or node.allows_additional or not node.properties
    rest: Shape | None = _ANY if is_open else None
    if node.additional is not None:
        rest = _shape(node.additional, group, name)
    return Struct(group, name, fields, is_atomic=node.map_type == "atomic", rest=rest)


def _required_names(conditions: JsonObject) -> frozenset[str]:
    return frozenset(conditions.get("required") or ())


MAX_VALUES: Final = 100_000
"""Of one custom object: fields, entries and items."""


def prune_unknown_fields(obj: JsonObject, root: SchemaNode) -> Decoded:
    """A copy with known fields only; raises DecodeError for metadata that is none, and for objects
    of too many values: each is looked at several times."""
    _check_count(obj)
    out = copy_json(obj)
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
    problems += [f"unknown field {go_quote(path)}" for path in sorted(unknown)]
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


def _prune(value: JsonValue, node: SchemaNode | None, path: str, unknown: list[str]) -> None:
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
    value: JsonObject, node: SchemaNode, path: str, unknown: list[str], *, is_embedded: bool
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


def _drop_nulls(value: JsonValue, node: SchemaNode | None) -> None:
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


def fill_defaults(value: JsonValue, node: SchemaNode | None) -> None:
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


def _default_of(node: SchemaNode) -> JsonValue:
    spend_checks(_count(node.default))
    return copy_json(node.default)


def _count(value: JsonValue) -> int:
    """How many values there are in a value, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


def _is_refused_null(value: JsonValue, node: SchemaNode | None) -> bool:
    return value is None and node is not None and not node.is_nullable
