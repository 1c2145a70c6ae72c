"""Objects in which every string says where it stands, so that whatever is written can be told."""

from typing import Any

from podium.client import ResourceType
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.schema import schema_of

CANARY = "canary:"
_MAX_DEPTH = 12
_PLAIN: dict[Form, Any] = {
    Form.BOOL: True,
    Form.INT32: 7,
    Form.INT64: 7,
    Form.FLOAT: 7,
    Form.QUANTITY: "7",
    Form.INT_OR_STRING: 7,
    Form.TIME: "2026-01-01T00:00:00Z",
    Form.MICRO_TIME: "2026-01-01T00:00:00.000001Z",
}


def canary_object(resource: ResourceType) -> dict[str, Any]:
    """Every field that Kubernetes has for the kind is set."""
    schema = schema_of(resource.group, resource.version, resource.kind)
    made = _struct(schema.root, "", 0)
    made["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = (
        f"{CANARY}last-applied-configuration"
    )
    return {**made, "apiVersion": resource.api_version, "kind": resource.kind}


def canaries_in(written: bytes) -> set[str]:
    """The paths of the strings that are there."""
    parts = written.decode().split(CANARY)[1:]
    return {part.partition('"')[0] for part in parts}


def _value(shape: Shape, path: str, depth: int) -> Any:
    match shape:
        case Scalar():
            return _PLAIN.get(shape.form, f"{CANARY}{path}")
        case AnyValue():
            return {f"{CANARY}{path}": f"{CANARY}{path}"}
        case MapOf():
            return {f"{CANARY}{path}": _value(shape.value, path, depth + 1)}
        case ListOf():
            return [_value(shape.item, path, depth + 1)]
        case Struct():
            return _struct(shape, path, depth)


def _struct(struct: Struct, path: str, depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        return {}
    return {
        name: _value(field.shape, f"{path}.{name}".lstrip("."), depth + 1)
        for name, field in struct.fields.items()
    }
