"""Reading a trace, line by line and within bounds, and as far as it goes.

A recording that was killed leaves a file that ends in the middle: all whole lines of it count, and
the reader says that it was cut off. Anything else that is wrong with a file is an InputError.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAGIC
from podium.net.files.versioned_documents import API_VERSION
from podium.offline.traces.trace_lines import (
    KIND,
    MAX_LINE_BYTES,
    End,
    TraceHeader,
    TraceLine,
)

MAX_UNPACKED_BYTES: Final = 16 << 30
_GZIP: Final = 31
_CHUNK_BYTES: Final = 256 << 10
_MAKE_ONE: Final = "`podium record` makes one"

T = TypeVar("T")


@dataclass(slots=True)
class TraceFile:
    """A trace that is being read: its header, and its lines as long as they come."""

    source: str
    header: TraceHeader
    lines: Iterator[TraceLine]
    end: End | None = None
    """How the recording ended; None until the last line was read, and for one that was cut off."""
    warnings: list[str] = field(default_factory=list)


def open_trace(path: str) -> TraceFile:
    """Raises InputError, also while lines are read."""
    lines = _numbered_lines(path)
    _, first = next(lines, (0, b""))
    trace = TraceFile(path, _read_header(first, path), iter(()))
    trace.lines = _read_lines(trace, lines)
    return trace


def _read_header(line: bytes, source: str) -> TraceHeader:
    if not line:
        raise InputError("is no cluster trace: it is empty", source=source, remedy=_MAKE_ONE)
    try:
        header = msgspec.json.decode(line, type=TraceHeader)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        header = TraceHeader()
    if header.kind != KIND:
        problem = "is no cluster trace: its first line is no header"
        raise InputError(problem, source=source, remedy=_MAKE_ONE)
    if header.api_version != API_VERSION:
        raise InputError(
            f"is a cluster trace of version {header.api_version!r}, and {API_VERSION} is read here",
            source=source,
            remedy="a newer Podium reads it",
        )
    return header


def _read_lines(trace: TraceFile, lines: Iterator[tuple[int, bytes]]) -> Iterator[TraceLine]:
    decoder = msgspec.json.Decoder(TraceLine)
    at = 0.0
    for number, line in lines:
        try:
            read = decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            raise InputError(
                f"is no line of a trace: {problem}", source=trace.source, line=number
            ) from None
        # Offsets are those of a steady clock, so a line that goes back was not written by it.
        if not read.at >= at:
            raise InputError("goes back in time", source=trace.source, line=number)
        at = read.at
        if isinstance(read, End):
            trace.end = read
        yield read
    if trace.end is None:
        trace.warnings.append(
            f"{trace.source} was cut off after {at:.0f} s; what was written before is read"
        )


def _numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines, as many as there are."""
    rest = b""
    number = 0
    for piece in _unpacked(path):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            yield number, line
        if len(rest) > MAX_LINE_BYTES:
            problem = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
            raise InputError(problem, source=path, line=number + 1)


def _unpacked(path: str) -> Iterator[bytes]:
    size = 0
    try:
        with Path(path).open("rb") as file:
            if not file.peek(len(MAGIC)).startswith(MAGIC):
                problem = "is no cluster trace: it is not gzip"
                raise InputError(problem, source=path, remedy=_MAKE_ONE)
            unpacking = zlib.decompressobj(_GZIP)
            while chunk := file.read(_CHUNK_BYTES):
                while chunk and not unpacking.eof:
                    piece = unpacking.decompress(chunk, _CHUNK_BYTES)
                    chunk = unpacking.unconsumed_tail
                    size += len(piece)
                    if size > MAX_UNPACKED_BYTES:
                        limit = f"{MAX_UNPACKED_BYTES >> 30} GiB"
                        raise InputError(f"unpacks to more than {limit}", source=path)
                    yield piece
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"cannot be read: {reason}", source=path) from None
    except ValueError:
        raise InputError("cannot be read: the name has a zero byte", source=path) from None
    except zlib.error as problem:
        raise InputError(f"is damaged: {problem}", source=path) from None
