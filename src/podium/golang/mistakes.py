"""What can be wrong with a value that is read as a Go type: where, what, and in Go's words.

Three readers are quoted. encoding/json and sigs.k8s.io/json say `json: cannot unmarshal string into
Go struct field PodSpec.spec.containers of type []v1.Container`; types that decode themselves have
texts of their own (`time: invalid duration "x"`); and what apimachinery's converter makes of the
result of a strategic merge is worded `cannot restore slice from string`.

A mistake is kept as the value, the shape and the way there, and put into words when somebody asks:
others than Go's are those of whoever reads for people.

Paths to fields inside an object, cheap to extend while walking and rendered only for errors. A path
is a chain of (parent path, key or index) pairs that ends in `ROOT`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from podium.golang.json_reader import WrittenFloat, json_type
from podium.golang.json_values import DecodedValue
from podium.golang.quoting import go_quote, json_number
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct, go_name

Path: TypeAlias = "tuple[()] | tuple[Path, object]"
ROOT: Path = ()

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")


def render(path: Path) -> str:
    """The path as users write it; a key that is no plain name is in brackets.

    >>> render((((ROOT, "spec"), "containers"), 0))
    'spec.containers[0]'
    >>> render((((ROOT, "metadata"), "labels"), "example.com/team"))
    'metadata.labels["example.com/team"]'
    """
    steps = []
    while path:
        path, step = path
        steps.append(step)
    text = "".join(_step(step) for step in reversed(steps))
    return text.removeprefix(".")


def join(path: str, below: str) -> str:
    """Two rendered paths, one below the other."""
    return f"{path}.{below}" if path and below and below[0] != "[" else path + below


def _step(step: object) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(str(step)) else f'["{step}"]'


Way: TypeAlias = "tuple[Way, str | int | tuple[str], Struct | None] | None"
"""How a value was reached: before it, the last step, and the struct whose field the step is.

A step is the name of a field, the index of an item, or the key of a map in a tuple.
"""

NUMBERS: Final = frozenset({Form.INT32, Form.INT64, Form.UINT8, Form.FLOAT, Form.FLOAT32})
_CONVERTED_KINDS: Final = {
    str: "string", bool: "bool", int: "int64", float: "float64", list: "slice",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Mistake:
    """A value that its Go type does not take."""

    value: DecodedValue
    shape: Shape
    way: Way
    own_text: str = ""
    """What a type that decodes itself says."""
    ends: bool = False
    """Go reads no further. Other mistakes it keeps until it is done, and tells the first."""

    @property
    def message(self) -> str:
        """What encoding/json says."""
        if self.own_text:
            return self.own_text
        told = json_type(self.value)
        if told == "number" and isinstance(self.shape, Scalar) and self.shape.form in NUMBERS:
            told = f"number {number_text(self.value)}"
        place = _go_place(self.way)
        into = f"Go struct field {place}" if place else "Go value"
        return f"json: cannot unmarshal {told} into {into} of type {go_name(self.shape)}"

    @property
    def converted(self) -> str:
        """What apimachinery's converter says."""
        return self.own_text or _describe_conversion(self.value, self.shape)

    @property
    def path(self) -> Path:
        return field_path(self.way)


class StrictProblem(NamedTuple):
    """A field that its struct does not have, or that is written a second time."""

    way: Way
    name: str
    struct: Struct | None
    problem: str = "unknown field"

    @property
    def path(self) -> str:
        """As Go writes it, keys of maps among the names: `spec.containers[0].image`."""
        return go_path((self.way, self.name, None))

    @property
    def field_path(self) -> Path:
        return field_path((self.way, self.name, None))

    @property
    def text(self) -> str:
        return f"{self.problem} {go_quote(self.path)}"


def number_text(number: float) -> str:
    """A number as it was written, as far as that is known."""
    if isinstance(number, WrittenFloat):
        return number.text
    if isinstance(number, float) and number.is_integer():
        return repr(number)
    return json_number(number)


def steps_of(way: Way) -> Iterator[str | int | tuple[str]]:
    """From the last to the first."""
    while way is not None:
        way, step, _ = way
        yield step


def go_path(way: Way) -> str:
    text = ""
    for step in reversed(list(steps_of(way))):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if isinstance(step, str) else step[0]
            text += f".{name}" if text else name
    return text


def field_path(way: Way) -> Path:
    """For `field_paths.render`, which sets keys of maps apart."""
    path = ROOT
    for step in reversed(list(steps_of(way))):
        path = (path, step[0] if isinstance(step, tuple) else step)
    return path


def _go_place(way: Way) -> str:
    """`PodSpec.spec.containers`: the innermost struct and all fields on the way, no indexes; a
    field of an embedded struct has that one's name before it."""
    struct, fields = "", []
    while way is not None:
        way, step, owner = way
        if isinstance(step, str):
            fields.append(step)
            if owner is not None:
                struct = struct or owner.name
                fields += [owner.embedded[step]] if step in owner.embedded else []
    return ".".join((struct, *reversed(fields))) if fields else ""


def _describe_conversion(value: DecodedValue, shape: Shape) -> str:
    found = "map" if isinstance(value, dict) else _CONVERTED_KINDS[value.__class__]
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
    if shape.form in NUMBERS and value.__class__ in (int, float):
        return f"cannot convert {found} to {shape.go_name}"
    if shape.form is Form.BYTES:
        return f"cannot restore slice from {found}"
    return f"unrecognized type: {'string' if shape.form is Form.STRING else shape.form.value}"
