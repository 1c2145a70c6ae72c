"""Base64 as Go's `base64.StdEncoding` reads it, and where it finds fault.

Python's decoder refuses what Go refuses only when it is strict, knows no line ends then, and does
not say where the fault is.
"""

import base64
import binascii
from typing import Final

_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PADDING: Final = ord("=")
_LINE_ENDS: Final = b"\r\n"


class Base64Error(ValueError):
    """The text is not base64; the message is Go's."""


def decode_base64(text: str) -> bytes:
    """Raises Base64Error."""
    try:
        return binascii.a2b_base64(text.replace("\r", "").replace("\n", ""), strict_mode=True)
    except ValueError:
        at = base64_fault(text)
    if at is not None:
        raise Base64Error(f"illegal base64 data at input byte {at}")
    return base64.b64decode(text)


def base64_fault(text: str) -> int | None:
    """Where Go finds fault with base64: the first wrong byte, or the group that is not full."""
    data = text.encode(errors="surrogatepass")
    in_group = 0
    for position, byte in enumerate(data):
        if byte in _LINE_ENDS:
            continue
        if byte in _LETTERS:
            in_group = (in_group + 1) % 4
        elif byte == _PADDING and in_group >= 2:
            return _padding_fault(data, position + 1, in_group)
        else:
            return position
    return len(data) - in_group if in_group else None


def _padding_fault(data: bytes, start: int, in_group: int) -> int | None:
    """The same from behind the first `=`, which closes a group of two or three letters."""
    left = [position for position in range(start, len(data)) if data[position] not in _LINE_ENDS]
    if in_group == 2:
        if not left:
            return len(data)
        if data[left[0]] != _PADDING:
            return left[0] - 1
        left = left[1:]
    return left[0] if left else None
