"""JSON read as Kubernetes' Go types read it, and written back as they write it.

Upstream decodes every object into a Go struct and encodes it again. What a client gets back thus
differs from what it sent: unknown fields are gone, empty fields too unless Go always writes them,
quantities and times have one spelling. `decode` does the same in one pass over plain values
(`podium.golang.decoding`), of every kind that is served and with every field of it.

Texts and numbers with a grammar: quantities and times. Go's types read these with code of their
own, which has its own error texts, and write them back in one form. `canonical_*` gives that form
or raises ScalarError with Go's text.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from podium.golang.decoding import MAX_TOLD, GoReader, Reading, UntakenError
from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.mistakes import Mistake, StrictProblem, Way, number_text
from podium.golang.shapes import Form, Scalar, Struct
from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.quantity import QuantityError, nano
from podium.kubernetes.rules.quantity_spelling import canonical, is_canonical
from podium.kubernetes.schema.catalogue import Schema

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
    text = value if value.__class__ is str else _format_number(value)
    try:
        return text if is_canonical(text) else canonical_quantity(text)
    except ScalarTypeError as error:
        raise UntakenError(str(error)) from None


def _format_number(value: DecodedValue) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number_text(value) if is_number else "?"


def _read_time(value: DecodedValue) -> str:
    if value.__class__ is not str:
        raise UntakenError(wanted=_TEXT)
    try:
        return canonical_time(value)
    except ScalarTypeError as error:
        raise UntakenError(str(error)) from None


def _read_micro_time(value: DecodedValue) -> str:
    if value.__class__ is not str:
        raise UntakenError(wanted=_TEXT)
    try:
        return canonical_micro_time(value)
    except ScalarTypeError as error:
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


_QUANTITY: Final = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SUFFIX: Final = re.compile(r"|[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+")
_BAD_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"
_BAD_NUMBER: Final = "unable to parse numeric part of quantity"

_SECONDS_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICROS_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_STEPS: Final = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"\d{4}", "2006"), (r"-", "-"), (r"\d\d", "01"), (r"-", "-"), (r"\d\d", "02"),
        (r"T", "T"), (r"\d\d", "15"), (r":", ":"), (r"\d\d", "04"), (r":", ":"), (r"\d\d", "05"),
    )
)  # fmt: skip
_ZONE: Final = re.compile(r"Z|[+-]\d\d:\d\d")
_FRACTION: Final = re.compile(r"[.,]\d+")
_MICROS: Final = re.compile(r"\.\d{6}")


class ScalarTypeError(ValueError):
    """A text that its type does not take; the message is Go's."""


def canonical_quantity(written: str) -> str:
    return written if is_canonical(written) else _respelt_quantity(written)


@cache_short_texts(1 << 14)
def _respelt_quantity(written: str) -> str:
    text = written.strip()
    if not text:
        raise ScalarTypeError(_BAD_QUANTITY)
    try:
        nano(text)
    except QuantityError:
        match = _QUANTITY.fullmatch(text)
        if match is None or not (match[1] or match[2] or match[3]):
            raise ScalarTypeError(_BAD_QUANTITY) from None
        if _SUFFIX.fullmatch(match[3]) is None:
            raise ScalarTypeError(_BAD_SUFFIX) from None
        raise ScalarTypeError(_BAD_NUMBER) from None
    return canonical(text)


@cache_short_texts(1 << 12)
def canonical_time(written: str) -> str:
    """To the second and in UTC."""
    return _moment(written, _SECONDS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


@cache_short_texts(1 << 12)
def canonical_micro_time(written: str) -> str:
    """To the microsecond and in UTC."""
    return _moment(written, _MICROS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _moment(written: str, layout: str) -> datetime:
    rest = written
    for pattern, shown in _STEPS:
        rest = _without(pattern, shown, rest, written, layout)
    if layout is _MICROS_LAYOUT:
        rest = _without(_MICROS, ".000000", rest, written, layout)
    elif fraction := _FRACTION.match(rest):
        rest = rest[fraction.end() :]
    rest = _without(_ZONE, "Z07:00", rest, written, layout)
    if rest:
        raise ScalarTypeError(f'{_head(written, layout)}: extra text: "{rest}"')
    _refuse_out_of_range(written)
    text = _FRACTION.sub(lambda found: "." + found[0][1:7].ljust(6, "0"), written, count=1)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ScalarTypeError(f'parsing time "{written}": day out of range') from None


def _without(pattern: re.Pattern[str], shown: str, rest: str, written: str, layout: str) -> str:
    found = pattern.match(rest)
    if found is None:
        raise ScalarTypeError(f'{_head(written, layout)}: cannot parse "{rest}" as "{shown}"')
    return rest[found.end() :]


def _head(written: str, layout: str) -> str:
    return f'parsing time "{written}" as "{layout}"'


def _refuse_out_of_range(written: str) -> None:
    for name, start, lowest, highest in (
        ("month", 5, 1, 12), ("hour", 11, 0, 23), ("minute", 14, 0, 59), ("second", 17, 0, 59),
    ):  # fmt: skip
        if not lowest <= int(written[start : start + 2]) <= highest:
            raise ScalarTypeError(f'parsing time "{written}": {name} out of range')
