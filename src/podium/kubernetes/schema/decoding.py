"""JSON read as Kubernetes' Go types read it, and written back as they write it.

Upstream decodes every object into a Go struct and encodes it again. What a client gets back thus
differs from what it sent: unknown fields are gone, empty fields too unless Go always writes them,
quantities and times have one spelling. `decode` does the same in one pass over plain values
(`podium.golang.decoding`), of every kind that is served and with every field of it.
"""

from dataclasses import dataclass
from typing import Final

from podium.golang.decoding import MAX_TOLD, GoReader, Reading, UntakenError
from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.mistakes import Mistake, StrictProblem, Way, number_text
from podium.golang.shapes import Form, Scalar, Struct
from podium.kubernetes.rules.quantity_spelling import is_canonical
from podium.kubernetes.schema.catalogue import Schema
from podium.kubernetes.schema.scalars import (
    ScalarError,
    canonical_micro_time,
    canonical_quantity,
    canonical_time,
)

_TEXT: Final = Scalar(Form.STRING, "string")
_NUMBER: Final = Scalar(Form.INT32, "int32")
_INT32: Final = range(-(2**31), 2**31)


class DecodeError(Exception):
    """An object that is not of its type; the message is Go's."""

    def __init__(self, message: str, converted: str = "", found: Reading | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.converted = converted or message
        """The same in the words of the reader that strategic merge patches use."""
        self.mistakes: tuple[Mistake, ...] = ()
        """Everything that is wrong, first what the message is about."""
        self.strict: tuple[StrictProblem, ...] = ()
        if found is not None:
            self.mistakes = tuple(found.tell_refusal_first())
            self.strict = tuple(found.strict)


@dataclass(frozen=True, slots=True)
class Decoded:
    value: JsonObject
    problems: list[str]
    """Texts about fields that were left out."""
    strict: tuple[StrictProblem, ...] = ()
    """The same, with their places."""


def decode(obj: JsonObject, schema: Schema) -> Decoded:
    """The object as Go would write it back; raises DecodeError."""
    return read_struct(obj, schema.root)


def decode_patched(obj: JsonObject, schema: Schema) -> Decoded:
    """The same for the result of a strategic merge, which upstream reads without JSON."""
    try:
        decoded = decode(obj, schema)
    except DecodeError as error:
        raise DecodeError(error.converted) from None
    return Decoded(decoded.value, sorted(decoded.problems))


def read_struct(value: JsonValue, struct: Struct, way: Way = None) -> Decoded:
    """A part of an object, at the end of a way; raises DecodeError."""
    found = _READER.read(struct, value, way)
    if found.mistakes and (refusal := found.refusal) is not None:
        raise DecodeError(refusal.message, refusal.converted, found)
    if not found.strict:
        return Decoded(found.value, [])
    problems = list(dict.fromkeys(each.text for each in found.strict))[:MAX_TOLD]
    return Decoded(found.value, problems, tuple(found.strict))


def _read_quantity(value: DecodedValue) -> str:
    text = value if value.__class__ is str else _written(value)
    try:
        return text if is_canonical(text) else canonical_quantity(text)
    except ScalarError as error:
        raise UntakenError(str(error)) from None


def _written(value: DecodedValue) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number_text(value) if is_number else "?"


def _read_time(value: DecodedValue) -> str:
    if value.__class__ is not str:
        raise UntakenError(wanted=_TEXT)
    try:
        return canonical_time(value)
    except ScalarError as error:
        raise UntakenError(str(error)) from None


def _read_micro_time(value: DecodedValue) -> str:
    if value.__class__ is not str:
        raise UntakenError(wanted=_TEXT)
    try:
        return canonical_micro_time(value)
    except ScalarError as error:
        raise UntakenError(str(error)) from None


def _read_int_or_string(value: DecodedValue) -> int | str:
    found: int | str = value
    if value.__class__ is not str and (value.__class__ is not int or value not in _INT32):
        raise UntakenError(wanted=_NUMBER)
    return found


SELF_DECODING: Final = {
    Form.QUANTITY: _read_quantity,
    Form.TIME: _read_time,
    Form.MICRO_TIME: _read_micro_time,
    Form.INT_OR_STRING: _read_int_or_string,
}
_READER: Final = GoReader(SELF_DECODING, writes_back=True)
