"""CBOR as Kubernetes writes it (RFC 8949), for the pages that offer it.

Text becomes byte strings and keys are sorted by their bytes, as the serializer of apimachinery has
it; readers take either kind of string. Only what JSON has can be written, and no fractions: the
pages have none.

    {"a": 1}  ->  d9d9f7 a1 41 61 01
"""

from typing import Any, Final

SELF_DESCRIBED: Final = bytes.fromhex("d9d9f7")
"""The tag in front that tells CBOR from other forms."""
_UNSIGNED: Final = 0x00
_NEGATIVE: Final = 0x20
_BYTES: Final = 0x40
_ARRAY: Final = 0x80
_MAP: Final = 0xA0
_SIMPLE: Final = {None: b"\xf6", True: b"\xf5", False: b"\xf4"}


def encode(value: Any) -> bytes:
    return SELF_DESCRIBED + _encode(value)


def _encode(value: Any) -> bytes:
    match value:
        case None | bool():
            return _SIMPLE[value]
        case int():
            return _head(_UNSIGNED, value) if value >= 0 else _head(_NEGATIVE, -1 - value)
        case str():
            written = value.encode()
            return _head(_BYTES, len(written)) + written
        case dict():
            members = sorted((_encode(key), _encode(each)) for key, each in value.items())
            return _head(_MAP, len(members)) + b"".join(key + each for key, each in members)
        case list() | tuple():
            return _head(_ARRAY, len(value)) + b"".join(map(_encode, value))
        case _:
            raise TypeError(f"cannot be written in CBOR: {type(value).__name__}")


def _head(kind: int, number: int) -> bytes:
    """The kind of an item, and its number or length in as few bytes as it takes."""
    if number < 24:
        return bytes((kind | number,))
    for following, size in enumerate((1, 2, 4, 8)):
        if number < 1 << (8 * size):
            return bytes((kind | (24 + following),)) + number.to_bytes(size, "big")
    raise OverflowError(f"cannot be written in CBOR: {number}")
