"""Compressed files of users, unpacked up to a bound.

A few kilobytes can unpack to gigabytes, so the bound holds while they are unpacked and not after.
"""

import zlib
from typing import Final

from podium.golang.errors import InputError

MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31
"""zlib's word for gzip with its header and checksum."""


def unpack_gzip(data: bytes, limit: int, source: str) -> bytes:
    """The content of gzip data, of all members one after the other. Raises InputError."""
    pieces: list[bytes] = []
    size = 0
    while data:
        member = zlib.decompressobj(_GZIP)
        try:
            piece = member.decompress(data, limit + 1 - size)
        except zlib.error as problem:
            raise InputError(f"not gzip: {problem}", source=source) from None
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            too_large = f"larger than {limit / 1024 / 1024:g} MiB when unpacked"
            remedy = "split the file, or leave out what is not needed"
            raise InputError(too_large, source=source, remedy=remedy)
        if not member.eof:
            raise InputError("ends in the middle of gzip data", source=source)
        data = member.unused_data.lstrip(b"\0")
    return b"".join(pieces)
