"""Structs as OpenAPI models, for version 3 and for version 2 of the format.

The formats differ in where models stand and in what may stand beside a reference: version 3 wraps
it in `allOf`, version 2 allows it.
"""

from enum import Enum
from typing import Final

from podium.apiserver.openapi.descriptions import DESCRIPTIONS, description_of
from podium.golang.decoding import zero
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Shape,
    Struct,
    version_of,
)

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_PREFIXES: Final = {
    "meta": _META,
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
}
OBJECT_META: Final = f"{_META}.ObjectMeta"
LIST_META: Final = f"{_META}.ListMeta"
_TYPES: Final[dict[Form, JsonObject]] = {
    Form.STRING: {"type": "string"},
    Form.BOOL: {"type": "boolean"},
    Form.INT32: {"type": "integer", "format": "int32"},
    Form.INT64: {"type": "integer", "format": "int64"},
    Form.FLOAT: {"type": "number", "format": "double"},
    Form.BYTES: {"type": "string", "format": "byte"},
}
_NAMED: Final = {
    Form.QUANTITY: "io.k8s.apimachinery.pkg.api.resource.Quantity",
    Form.TIME: f"{_META}.Time",
    Form.MICRO_TIME: f"{_META}.MicroTime",
    Form.INT_OR_STRING: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}
_ANY_NAMES: Final = {
    "runtime.RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "v1.FieldsV1": f"{_META}.FieldsV1",
}
_OBJECTS_OF_ANY_KIND: Final = "A value of any shape."


class Dialect(Enum):
    V3 = "#/components/schemas/"
    V2 = "#/definitions/"

    def reference(self, name: str) -> JsonObject:
        return {"$ref": self.value + name}


def model_name(struct: Struct) -> str:
    group = struct.group.partition("/")[0]
    prefix = _PREFIXES.get(group, f"io.k8s.api.{group}.{version_of(struct.group)}")
    return f"{prefix}.{struct.name}"


def custom_model_name(group: str, version: str, kind: str) -> str:
    return f"{'.'.join(reversed(group.split('.')))}.{version}.{kind}"


class Models:
    """The models of a document: those that were asked for and all that they refer to."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.by_name: dict[str, JsonObject] = {}

    def refer(self, struct: Struct) -> JsonObject:
        """A reference to a struct, whose model is in the document from now on."""
        name = model_name(struct)
        if name not in self.by_name:
            self.by_name[name] = {}  # before its fields: they may refer back
            self.by_name[name].update(self._model(struct))
        return self.dialect.reference(name)

    def refer_named(self, name: str, model: JsonObject) -> JsonObject:
        self.by_name.setdefault(name, model)
        return self.dialect.reference(name)

    def list_of(self, name: str, item: JsonObject) -> JsonObject:
        """The model of a list of objects."""
        return {
            "description": f"A list of {name.removesuffix('List')} objects.",
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"type": "string", "description": DESCRIPTIONS["apiVersion"]},
                "kind": {"type": "string", "description": DESCRIPTIONS["kind"]},
                "metadata": self.wrapped(self.list_meta(), {}),
                "items": {
                    "type": "array",
                    "items": self.wrapped(item, {}),
                    "description": DESCRIPTIONS["items"],
                },
            },
        }

    def list_meta(self) -> JsonObject:
        model = {
            "description": DESCRIPTIONS["ListMeta"],
            "type": "object",
            "properties": {
                "continue": {"type": "string"},
                "remainingItemCount": {"type": "integer", "format": "int64"},
                "resourceVersion": {"type": "string"},
                "selfLink": {"type": "string"},
            },
        }
        return self.refer_named(LIST_META, model)

    def _model(self, struct: Struct) -> JsonObject:
        model: JsonObject = {"type": "object"}
        description = description_of(struct.name)
        if description:
            model["description"] = description
        required = sorted(field.name for field in struct.fields.values() if field.is_required)
        if required:
            model["required"] = required
        if struct.fields:
            model["properties"] = {
                field.name: self._property(struct, field) for field in struct.fields.values()
            }
        if struct.is_atomic:
            model["x-kubernetes-map-type"] = "atomic"
        return model

    def _property(self, struct: Struct, field: Field) -> JsonObject:
        described = DESCRIPTIONS.get(f"{struct.name}.{field.name}")
        if described is None and struct.is_object:
            described = DESCRIPTIONS.get(field.name)
        beside: JsonObject = {} if described is None else {"description": described}
        default = _default(field)
        if default is not None and self.dialect is Dialect.V3:
            beside["default"] = default
        return {**self.wrapped(self._schema(field.shape), beside), **_marks(field)}

    def wrapped(self, schema: JsonObject, beside: JsonObject) -> JsonObject:
        """A schema with more beside it, which a reference may not have in version 3."""
        if "$ref" in schema and beside and self.dialect is Dialect.V3:
            return {"allOf": [schema], **beside}
        return {**schema, **beside}

    def _schema(self, shape: Shape) -> JsonObject:
        match shape:
            case Struct():
                return self.refer(shape)
            case ListOf():
                return {"type": "array", "items": self._schema(shape.item)}
            case MapOf():
                return {"type": "object", "additionalProperties": self._schema(shape.value)}
            case AnyValue():
                name = _ANY_NAMES.get(shape.go_name)
                described = {"description": _OBJECTS_OF_ANY_KIND}
                if name is None:
                    return described
                return self.refer_named(name, {**described, "type": "object"})
            case Scalar():
                return self._scalar(shape)

    def _scalar(self, shape: Scalar) -> JsonObject:
        name = _NAMED.get(shape.form)
        if name is not None:
            return self.refer_named(name, self._special(shape.form))
        schema = dict(_TYPES[shape.form])
        if shape.values:
            schema["enum"] = list(shape.values)
        return schema

    def _special(self, form: Form) -> JsonObject:
        is_v3 = self.dialect is Dialect.V3
        match form:
            case Form.QUANTITY:
                described = {"description": "An amount, such as 500m, 2 or 1Gi."}
                if is_v3:
                    return {**described, "oneOf": [{"type": "string"}, {"type": "number"}]}
                return {**described, "type": "string"}
            case Form.INT_OR_STRING:
                described = {"description": "A number, or a text such as a name or 25%."}
                if is_v3:
                    either: list[JsonValue] = [{"type": "integer"}, {"type": "string"}]
                    return {**described, "format": "int-or-string", "oneOf": either}
                return {**described, "type": "string", "format": "int-or-string"}
            case _:
                return {
                    "description": "A point in time (RFC 3339).",
                    "type": "string",
                    "format": "date-time",
                }


def _default(field: Field) -> JsonValue:
    """What a missing field counts as, for fields that are always written."""
    if field.default is not None:
        return field.default
    if field.is_pointer:
        return None
    if isinstance(field.shape, Struct):
        return {}
    if isinstance(field.shape, Scalar) and field.omitted is Omitted.NEVER:
        return zero(field.shape) if field.shape.form in _TYPES else None
    return None


def _marks(field: Field) -> JsonObject:
    """What patches and server-side apply have to know about a field."""
    marks: JsonObject = {}
    shape = field.shape
    if isinstance(shape, ListOf):
        if shape.keys:
            marks["x-kubernetes-list-map-keys"] = list(shape.keys)
        kind = "map" if shape.keys else "set" if shape.is_set else "atomic"
        marks["x-kubernetes-list-type"] = kind
    if isinstance(shape, MapOf) and shape.is_atomic:
        marks["x-kubernetes-map-type"] = "atomic"
    if field.merge_key:
        marks["x-kubernetes-patch-merge-key"] = field.merge_key
    strategies = [
        name
        for name, is_set in (
            ("merge", field.merges),
            ("replace", field.replaces),
            ("retainKeys", field.retains_keys),
        )
        if is_set
    ]
    if strategies:
        marks["x-kubernetes-patch-strategy"] = ",".join(strategies)
    return marks
