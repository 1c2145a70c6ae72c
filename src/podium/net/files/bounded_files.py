"""Files that users name, compressed ones too, read up to a bound.

A path can lead to a device that never ends, to a pipe, or to more than memory holds. Whatever it
is, no more than the limit is taken in; of a regular file that is larger, nothing is.

Compressed files of users, unpacked up to a bound. A few kilobytes can unpack to gigabytes, so the
bound holds while they are unpacked and not after.
"""

import errno
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from io import FileIO
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

from podium.golang.documents import DEFAULT_LIMITS
from podium.golang.errors import InputError

STDIN: Final = "-"
MAX_CLUSTER_BYTES: Final = DEFAULT_LIMITS.size_bytes
"""Manifests, dumps of clusters, workloads."""
MAX_SETTINGS_BYTES: Final = 16 * 1024 * 1024
"""Configurations, kubeconfigs, certificates, tokens, templates, code of plugins."""
_CHUNK_BYTES: Final = 1024 * 1024


def read_file(path: str | Path, limit: int = MAX_SETTINGS_BYTES) -> bytes:
    """A file's content. Raises OSError, for more than the limit with EFBIG."""
    with open(path, "rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and found.st_size > limit:
            raise _too_large(limit)
        # What is known to be there is read at once; a file may have grown meanwhile.
        chunk = found.st_size + 1 if stat.S_ISREG(found.st_mode) else 0
        return _read(file, limit, chunk)


def read_input(path: str, limit: int = MAX_SETTINGS_BYTES, *, source: str = "") -> bytes:
    """The content of a file, or of standard input for `-`. Raises InputError, which calls the
    file `source`."""
    try:
        return _read(sys.stdin.buffer, limit) if path == STDIN else read_file(path, limit)
    except OSError as problem:
        if problem.errno == errno.EFBIG:
            remedy = "split the file, or leave out what is not needed"
            raise InputError(str(problem.strerror), source=source or path, remedy=remedy) from None
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"cannot be read: {reason}", source=source or path) from None
    except ValueError:
        raise InputError("cannot be read: the name has a zero byte", source=source) from None


def read_lines(file: BinaryIO, limit: int, source: str) -> Iterator[bytes]:
    """The lines of a file that may go on for ever. Raises InputError for one above the limit."""
    for number in count(1):
        line = file.readline(limit + 1)
        if not line:
            return
        if len(line) > limit:
            problem = str(_too_large(limit).strerror)
            raise InputError(f"the line is {problem}", source=source, line=number)
        yield line


def _read(file: BinaryIO | FileIO, limit: int, chunk: int = 0) -> bytes:
    pieces = []
    left = limit + 1
    while left and (piece := file.read(min(left, max(chunk, _CHUNK_BYTES)))):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise _too_large(limit)
    return b"".join(pieces)


def _too_large(limit: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {limit / 1024 / 1024:g} MiB")


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
