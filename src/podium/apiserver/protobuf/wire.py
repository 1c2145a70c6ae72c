"""The bytes of protobuf: varints, lengths, and fields with their numbers."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES = 10
MAX_FIELDS = 200_000
"""Fields of all messages of a body, those of quantities and map entries included."""
_64_BITS = (1 << 64) - 1


class WireError(ValueError):
    """The bytes are no protobuf message."""


class FieldReader:
    """Takes the messages of one body apart, unless they have too many fields.

    Their depth is that of the schemas, none of which refers to itself.
    """

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def fields_of(self, data: bytes) -> Iterator[tuple[int, int | bytes]]:
        """The fields of a message: a number for varints, bytes for everything else."""
        place, size = 0, len(data)
        while place < size:
            self._left -= 1
            if self._left < 0:
                raise WireError(f"exceeded max number of fields ({MAX_FIELDS})")
            tag, place = read_varint(data, place)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise WireError("illegal tag 0")
            value: int | bytes
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


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    if place < len(data) and data[place] < 0x80:
        return data[place], place + 1
    value = shift = 0
    for count in range(_MOST_VARINT_BYTES):
        if place + count >= len(data):
            raise WireError("unexpected EOF")
        byte = data[place + count]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _64_BITS, place + count + 1
        shift += 7
    raise WireError("integer overflow")


def signed(value: int) -> int:
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
