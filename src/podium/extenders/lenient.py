"""Decoding as Go does it: lenient about names and nulls, strict about types, in Go's words.

What is spelled exactly as expected is decoded by msgspec in one step. Everything else is read by
its shape (`go_shapes.py`): member names in any capitalisation, nulls, members nobody asked for,
bytes that are no UTF-8, something after the value. Source: `send` in `pkg/scheduler/extender.go`,
which reads answers with a `json.Decoder`.

Contract: whatever is wrong with the bytes is a `DecodingProblem`.
"""

from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import inspect

from podium.extenders.go_shapes import DecodingProblem, Place, read_or_zero, shape_of
from podium.golang.json_reader import JSONSyntaxError, read_first

Encoded = bytes | bytearray | msgspec.Raw
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_OUTERMOST: Final = Place()


class BodyDecoder(Protocol[T_co]):
    """What decodes bytes into one type.

    `broken` says why the data may not be all there is: the text if it is indeed cut short.
    """

    def __call__(self, data: Encoded, broken: str = "") -> T_co: ...


def body_decoder(kind: type[T], go_type: str = "") -> BodyDecoder[T]:
    """A decoder for one type; `go_type` is its Go name where that is not the Struct's own."""
    exact = msgspec.json.Decoder(kind)
    lenient = lenient_decoder(kind, go_type)

    def decode(data: Encoded, broken: str = "") -> T:
        try:
            return exact.decode(data)
        except UNDECODABLE as error:
            if broken and "truncated" in str(error):
                raise DecodingProblem(broken) from None
        return lenient(data, broken)

    return decode


def lenient_decoder(kind: type[T], go_type: str = "", place: Place = _OUTERMOST) -> BodyDecoder[T]:
    """One for what is known not to be spelled exactly."""
    shape = shape_of(inspect.type_info(kind), go_type)

    def decode(data: Encoded, broken: str = "") -> T:
        try:
            value = read_or_zero(shape, _value(bytes(data), broken), place)
        except RecursionError:
            raise DecodingProblem("exceeded max depth") from None
        return msgspec.convert(value, kind)

    return decode


def _value(data: bytes, broken: str) -> Any:
    text = data.decode("utf-8", "replace")
    try:
        return read_first(text)
    except JSONSyntaxError as error:
        if not error.ended:
            raise DecodingProblem(str(error)) from None
        cut_short = broken or ("unexpected EOF" if text.strip(" \t\r\n") else "EOF")
        raise DecodingProblem(cut_short) from None
