"""What can be wrong with a document that is read as a Go type, in Go's words.

Two readers are quoted. The first reads JSON text: `json: cannot unmarshal string into Go struct
field PodSpec.spec.containers of type []v1.Container`. The second turns the result of a strategic
merge into the type and words the same mistake as `cannot restore slice from string`.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import quoted
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.golang.shapes import go_name as go_name_of

Way: TypeAlias = "tuple[Way, str | int | tuple[str], str] | None"
"""How a value was reached: before it, the last step, and the struct whose field the step is.

A step is the name of a field, the index of an item, or the key of a map in a tuple.
"""

_GO_KINDS: Final = {str: "string", bool: "bool", int: "int64", float: "float64"}
_PLAIN_KINDS: Final = {**_GO_KINDS, list: "slice", dict: "map"}
_JSON_KINDS: Final = {
    str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object",
}  # fmt: skip
_REFERENCE: Final = "LocalObjectReference"
_DEVICES: Final = "DeviceConfiguration"
_EMBEDDED: Final = {
    "ConfigMapEnvSource": (_REFERENCE, {"optional"}),
    "ConfigMapKeySelector": (_REFERENCE, {"key", "optional"}),
    "ConfigMapProjection": (_REFERENCE, {"items", "optional"}),
    "ConfigMapVolumeSource": (_REFERENCE, {"defaultMode", "items", "optional"}),
    "DeviceAllocationConfiguration": (_DEVICES, {"requests", "source"}),
    "DeviceClaimConfiguration": (_DEVICES, {"requests"}),
    "DeviceClassConfiguration": (_DEVICES, set[str]()),
    "EphemeralContainer": ("EphemeralContainerCommon", {"targetContainerName"}),
    "PersistentVolumeSpec": (
        "PersistentVolumeSource",
        {
            "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity",
            "persistentVolumeReclaimPolicy", "storageClassName", "volumeAttributesClassName",
            "volumeMode",
        },
    ),
    "Probe": (
        "ProbeHandler",
        {
            "failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold",
            "terminationGracePeriodSeconds", "timeoutSeconds",
        },
    ),
    "SecretEnvSource": (_REFERENCE, {"optional"}),
    "SecretKeySelector": (_REFERENCE, {"key", "optional"}),
    "SecretProjection": (_REFERENCE, {"items", "optional"}),
    "Volume": ("VolumeSource", {"name"}),
}  # fmt: skip
"""Structs whose other fields are those of a struct inside them, which Go names on the way."""
_NUMBERS: Final = frozenset({Form.INT32, Form.INT64, Form.FLOAT})


class DecodeError(Exception):
    """A value of the wrong type; the message is Go's."""

    def __init__(self, message: str, converted: str) -> None:
        super().__init__(message)
        self.message = message
        self.converted = converted
        """The same in the words of the reader that strategic merge patches use."""


@dataclass(frozen=True, slots=True)
class Decoded:
    value: JsonObject
    problems: list[str]
    """Texts about fields that were left out."""


def unknown_field(way: Way, key: str) -> str:
    return f"unknown field {quoted(path_of((way, key, '')))}"


def path_of(way: Way) -> str:
    """The way as users write it: `spec.containers[0].image`."""
    steps: list[str | int | tuple[str]] = []
    while way is not None:
        way, step, _ = way
        steps.append(step)
    text = ""
    for step in reversed(steps):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if isinstance(step, str) else step[0]
            text += f".{name}" if text else name
    return text


def mismatch(value: JsonValue, shape: Shape, way: Way) -> DecodeError:
    """A value of another type than its field."""
    told = _JSON_KINDS[value.__class__]
    if told == "number" and isinstance(shape, Scalar) and shape.form in _NUMBERS:
        told = f"number {value!r}"
    place = _place(way)
    into = f"Go struct field {place}" if place else "Go value"
    message = f"json: cannot unmarshal {told} into {into} of type {go_name_of(shape)}"
    return DecodeError(message, _converted(value, shape))


def _place(way: Way) -> str:
    """`PodSpec.spec.containers`: the innermost struct and all fields on the way, no indexes."""
    struct, fields = "", []
    while way is not None:
        way, step, owner = way
        if isinstance(step, str):
            struct = struct or owner
            fields.append(step)
            embedded = _EMBEDDED.get(owner)
            if embedded is not None and step not in embedded[1]:
                fields.append(embedded[0])
    return ".".join((struct, *reversed(fields))) if fields else ""


def _converted(value: JsonValue, shape: Shape) -> str:
    found = _PLAIN_KINDS[value.__class__]
    match shape:
        case Struct():
            return f"cannot restore struct from: {found}"
        case MapOf():
            return f"cannot restore map from {found}"
        case ListOf():
            return f"cannot restore slice from {found}"
        case AnyValue():
            return f"cannot restore value from {found}"
    if shape.form is Form.STRING and value.__class__ is int:
        # upstream: Go can turn an integer into a text of one character, JSON may not.
        return f"cannot convert int64 to {shape.go_name}"
    if shape.form in _NUMBERS and value.__class__ in (int, float):
        return f"cannot convert {found} to {shape.go_name}"
    if shape.form is Form.BYTES:
        return f"cannot restore slice from {found}"
    return f"unrecognized type: {'string' if shape.form is Form.STRING else shape.form.value}"
