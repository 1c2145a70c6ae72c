"""A structural schema in the form in which patches and server-side apply know kinds."""

from podium.apiserver.crds.structural import Node
from podium.golang.json_values import JsonObject
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Struct,
)
from podium.kubernetes.schema.catalogue import Schema, built_in_struct

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


def custom_schema(group: str, version: str, kind: str, root: Node, *, has_status: bool) -> Schema:
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


def _shape(node: Node | None, group: str, name: str) -> Shape:
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


def _struct(node: Node, group: str, name: str) -> Struct:
    fields = {
        key: Field(
            key,
            _shape(each, group, key),
            is_pointer=True,
            default=each.default,
            is_required=key in _required(node.conditions),
        )
        for key, each in node.properties.items()
    }
    is_open = node.preserves_unknown or node.allows_additional or not node.properties
    rest: Shape | None = _ANY if is_open else None
    if node.additional is not None:
        rest = _shape(node.additional, group, name)
    return Struct(group, name, fields, is_atomic=node.map_type == "atomic", rest=rest)


def _required(conditions: JsonObject) -> frozenset[str]:
    return frozenset(conditions.get("required") or ())
