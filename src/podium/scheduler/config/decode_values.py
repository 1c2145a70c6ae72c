"""Single values of a configuration, and JSON as kube-scheduler reads it.

What fits and what a refusal calls it depends on Go's types: `Int32` and its kin stand for them, and
`GO_STRINGS` names the strings that have a type of their own. A refusal has two texts: that of
encoding/json, or of the parsers of durations and bytes, and one for people, with the path.

JSON as kube-scheduler reads a configuration: order, repeated members and numbers as written. Three
things that a plain decoder loses decide about errors: which member came first, that one came twice,
and whether a number was written `4` or `4.0` (the latter is no integer in JSON). Objects with
repeated members come out as `RepeatedMembers`, numbers with a point or an exponent as
`WrittenFloat`. Syntax errors are worded as Go's encoding/json words them (`golang/json_reader.py`).
"""

import base64
import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from podium.golang.base64_text import base64_fault
from podium.golang.durations import Duration, DurationError
from podium.golang.json_reader import (
    JSONSyntaxError,
    WrittenFloat,
    keep_repeated,
    mend_halves,
    read_whole,
)
from podium.golang.quoting import json_number
from podium.golang.yaml_scalars import ScalarError, plain
from podium.scheduler.config.errors import ConfigurationError, FieldProblem


class GoNumber(NamedTuple):
    """The Go type of a number, which decides what fits and what messages call it."""

    name: str
    bits: int


Int32 = Annotated[int, GoNumber("int32", 32)]
Int64 = Annotated[int, GoNumber("int64", 64)]
Float32 = Annotated[float, GoNumber("float32", 32)]

PLAIN_INT: Final = GoNumber("int32", 32)
PLAIN_FLOAT: Final = GoNumber("float64", 64)

GO_STRINGS: Final[Mapping[tuple[str, str], str]] = {
    ("LabelSelectorRequirement", "operator"): "v1.LabelSelectorOperator",
    ("NodeSelectorRequirement", "operator"): "v1.NodeSelectorOperator",
    ("PodTopologySpreadArgs", "defaultingType"): "v1.PodTopologySpreadConstraintsDefaulting",
    ("ScoringStrategy", "type"): "v1.ScoringStrategyType",
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): "v1.NodeInclusionPolicy",
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): "v1.NodeInclusionPolicy",
    ("TopologySpreadConstraint", "whenUnsatisfiable"): "v1.UnsatisfiableConstraintAction",
}
_DURATION: Final = 'a duration is a text such as "15s", "1m30s" or "500ms"'
_KINDS: Final = {
    "array": "a list",
    "bool": "a boolean",
    "null": "nothing",
    "number": "a number",
    "object": "a map",
    "string": "a text",
}
_WANTED: Final = {
    "[]uint8": "a text in base64",
    "bool": "true or false",
    "float32": "a number",
    "int32": "an integer",
    "int64": "an integer",
    "string": "a text",
    "uint8": "an integer",
}


class ConfigDecodeError(ValueError):
    """A value of the wrong type or form: upstream's text, and what to tell of it and of others."""

    def __init__(self, text: str, problems: Sequence[FieldProblem] = ()) -> None:
        super().__init__(text)
        self.problems = tuple(problems) or (FieldProblem("", text),)


class EndingError(ConfigDecodeError):
    """One after which upstream reads no further; others it keeps until it is done."""


class Place(NamedTuple):
    """Where a value is: its Go field for type errors, its path for unknown fields."""

    go_struct: str
    go_path: str
    path: str

    def at_index(self, index: int) -> "Place":
        return self._replace(path=f"{self.path}[{index}]")

    def refusal(self, raw: Any, go_type: str, value: str = "") -> ConfigDecodeError:
        """What encoding/json says of a value that does not fit here."""
        kind = f"{json_kind(raw)} {value}" if value else json_kind(raw)
        if go_type == "string":
            field = self.go_path.rpartition(".")[2]
            go_type = GO_STRINGS.get((self.go_struct, field), go_type)
        text = (
            f"json: cannot unmarshal {kind} into Go struct field "
            f"{self.go_struct}.{self.go_path} of type {go_type}"
        )
        return ConfigDecodeError(text, (FieldProblem(self.path, *_in_words(raw, go_type, value)),))

    def problem(self, text: str, remedy: str = "") -> tuple[FieldProblem]:
        return (FieldProblem(self.path, text, remedy),)


def json_kind(raw: object) -> str:
    """What JSON calls this kind of value."""
    match raw:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list() | tuple():
            return "array"
        case None:
            return "null"
        case _:
            return "object"


def decode_int(raw: Any, number: GoNumber, place: Place) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise place.refusal(raw, number.name)
    if isinstance(raw, WrittenFloat):
        raise place.refusal(raw, number.name, raw.text)
    _refuse_non_finite(raw)
    limit = 1 << (number.bits - 1)
    if raw != int(raw) or not -limit <= raw < limit:
        raise place.refusal(raw, number.name, json_number(raw))
    return int(raw)


def decode_float(raw: Any, number: GoNumber, place: Place) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise place.refusal(raw, number.name)
    written = raw.text if isinstance(raw, WrittenFloat) else json_number(raw)
    if isinstance(raw, WrittenFloat) and math.isinf(raw):
        raise place.refusal(raw, number.name, written)
    _refuse_non_finite(raw)
    if number.bits == 64:
        return float(raw)
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", raw))[0]
    except OverflowError:
        raise place.refusal(raw, number.name, written) from None
    return rounded


def decode_duration(raw: Any, place: Place) -> Duration:
    # upstream: null is read as an empty text, which is no duration.
    text = "" if raw is None else raw
    if not isinstance(text, str):
        refusal = place.refusal(raw, "string")
        problem = f"is {_KINDS[json_kind(raw)]}, must be a duration"
        raise EndingError(str(refusal), place.problem(problem, _DURATION))
    try:
        return Duration.parse(text)
    except DurationError as error:
        raise EndingError(str(error), place.problem(str(error), _DURATION)) from None


def decode_bytes(raw: Any, place: Place) -> bytes:
    """Base64, or a list of numbers."""
    if isinstance(raw, list | tuple):
        return bytes(_byte(entry, place) for entry in raw)
    if not isinstance(raw, str):
        raise place.refusal(raw, "[]uint8")
    at = base64_fault(raw)
    if at is not None:
        text = f"illegal base64 data at input byte {at}"
        raise ConfigDecodeError(text, place.problem(text))
    return base64.b64decode(raw)


def _in_words(raw: Any, go_type: str, value: str) -> tuple[str, str]:
    """What is wrong with a value, and what would be right."""
    wanted = _WANTED.get(go_type, "a text" if go_type in GO_STRINGS.values() else "a map")
    if go_type.startswith("[]") and go_type != "[]uint8":
        wanted = "a list"
    if value:
        bits = re.sub(r"\D", "", go_type)
        whole = isinstance(raw, int) or (math.isfinite(raw) and raw == int(raw))
        too_large = whole and not isinstance(raw, WrittenFloat)
        found = f"does not fit into {bits} bits" if too_large else f"is no {wanted.split()[-1]}"
        if go_type == "float32":
            found = f"does not fit into {bits} bits"
        return f"{value if len(value) < 50 else value[:40] + '...'} {found}", ""
    remedy = ""
    if isinstance(raw, str) and wanted != "a text" and isinstance(_plain(raw), int | float):
        remedy = f"write {raw} without quotation marks" if wanted != "a map" else ""
    if wanted == "a text" and isinstance(raw, bool | int | float):
        remedy = "put it in quotation marks"
    return f"is {_KINDS[json_kind(raw)]}, must be {wanted}", remedy


def _plain(text: str) -> object:
    try:
        return plain(text)
    except ScalarError:
        return text


def _byte(raw: Any, place: Place) -> int:
    if raw is None:
        return 0
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise place.refusal(raw, "uint8")
    if isinstance(raw, WrittenFloat) or raw != int(raw) or not 0 <= raw < 256:
        text = raw.text if isinstance(raw, WrittenFloat) else json_number(raw)
        raise place.refusal(raw, "uint8", text)
    return int(raw)


def _refuse_non_finite(raw: float) -> None:
    if not math.isfinite(raw):
        shown = "NaN" if math.isnan(raw) else f"{raw:+}".replace("inf", "Inf")
        raise ConfigDecodeError(f"json: unsupported value: {shown}")


__all__ = [
    "MAX_VALUES",
    "SHORT",
    "WrittenFloat",
    "read_json_text",
    "too_many",
]

SHORT: Final = "a configuration is short"
MAX_VALUES: Final = 20_000
"""Far more than anybody writes, and few enough to be answered at once."""
_DEPTH: Final = 100
_PREFIX: Final = "couldn't get version/kind; json parse error: "
_HALF_LETTER: Final = re.compile(r"\\u|[\ud800-\udfff]")


def read_json_text(text: str) -> Any:
    """Raises ConfigurationError, for syntax errors with Go's text."""
    try:
        value = read_whole(text, keep_repeated)
    except JSONSyntaxError as error:
        raise ConfigurationError(f"{_PREFIX}{error}", line=error.line) from None
    except RecursionError:
        raise _too_deep() from None
    _refuse_large(value)
    return mend_halves(value) if _HALF_LETTER.search(text) else value


def _refuse_large(value: Any) -> None:
    """Bound what all that follows has to walk through."""
    left = [(value, 1)]
    found = 0
    while left:
        container, depth = left.pop()
        found += len(container)
        if depth > _DEPTH:
            raise _too_deep()
        if found > MAX_VALUES:
            raise too_many()
        inner = container.values() if isinstance(container, dict) else container
        left.extend((entry, depth + 1) for entry in inner if isinstance(entry, dict | list))


def too_many() -> ConfigurationError:
    return ConfigurationError(f"holds more than {MAX_VALUES} values", remedy=SHORT)


def _too_deep() -> ConfigurationError:
    return ConfigurationError(f"nested more than {_DEPTH} levels deep")
