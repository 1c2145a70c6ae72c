"""The bytes of protobuf: varints, lengths, and fields with their numbers.

A field of two bytes costs hundreds of times what a byte of JSON does, so the messages of one body
share a number of fields that they may have. Parts of a message are views, never copies: a message
in a message in a message holds the bytes of all of them once.

Which number a field has in its protobuf message.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from podium.kubernetes.releases.release import release

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MAX_FIELDS: Final = 200_000
"""In one body; the largest objects that upstream stores have some 50,000."""
MAX_MESSAGE_DEPTH: Final = 200
_MAX_VARINT_BYTES = 10
_64_BITS = (1 << 64) - 1

Found = int | memoryview
"""The value of a field: a number for varints, bytes for everything else."""


class WireError(ValueError):
    """The bytes are no protobuf message, or one of too many parts."""


class FieldReader:
    """Reads the messages of one body."""

    __slots__ = ("_left", "depth")

    def __init__(self) -> None:
        self._left = MAX_FIELDS
        self.depth = 0

    def fields_of(self, data: memoryview) -> Iterator[tuple[int, Found]]:
        """The fields of a message with their numbers."""
        place, size = 0, len(data)
        while place < size:
            self._left -= 1
            if self._left < 0:
                raise WireError(f"exceeded max number of fields ({MAX_FIELDS})")
            tag = data[place]
            if tag < 0x80:
                place += 1
            else:
                tag, place = read_varint(data, place)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise WireError("illegal tag 0")
            value: Found
            if wire_type == VARINT:
                value, place = read_varint(data, place)
            else:
                if wire_type == BYTES:
                    length, place = read_varint(data, place)
                elif wire_type == FIXED64:
                    length = 8
                elif wire_type == FIXED32:
                    length = 4
                else:
                    raise WireError(f"illegal wireType {wire_type}")
                if length > size - place:
                    raise WireError("unexpected EOF")
                value, place = data[place : place + length], place + length
            yield number, value


def read_varint(data: memoryview, place: int) -> tuple[int, int]:
    """A number and the place behind it."""
    value = shift = 0
    for count in range(_MAX_VARINT_BYTES):
        if place + count >= len(data):
            raise WireError("unexpected EOF")
        byte = data[place + count]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _64_BITS, place + count + 1
        shift += 7
    raise WireError("integer overflow")


def to_signed(value: int) -> int:
    """A varint as the 64-bit integer that it stands for."""
    return value - (1 << 64) if value >> 63 else value


_SHORT = tuple(bytes((value,)) for value in range(0x80))


def varint(value: int) -> bytes:
    if 0 <= value < 0x80:
        return _SHORT[value]
    value &= _64_BITS
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def number_field(number: int, value: int) -> bytes:
    return tag(number, VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    return tag(number, BYTES) + varint(len(value)) + value


@dataclass(frozen=True, slots=True)
class NumberedField:
    number: int
    name: str
    inline: str = ""
    """The message whose fields are under this number, though JSON has none of that name."""


@cache
def fields_of_message(section: str, message: str) -> tuple[NumberedField, ...]:
    """The fields of a message in the order of their numbers; none if it is not known."""
    entry = release().types.get(section, {}).get(message)
    if entry is None:
        return ()
    fields = (
        NumberedField(field.number, f"~{field.name}", field.name)
        if field.inline
        else NumberedField(field.number, field.name)
        for field in entry.fields
        if field.number
    )
    return tuple(sorted(fields, key=lambda field: field.number))
