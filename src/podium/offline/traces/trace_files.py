"""The format of cluster traces: gzip of JSON, a line each.

The first line is the header; it has Podium's `apiVersion` and the kind ClusterTrace. Then come the
objects that were there, a line `snapshot` when they are complete, and what happened from then on in
the order in which it was seen. `at` is in seconds since the recording began; what is before the
line `snapshot` counts as there at its time.

    zcat night.podium | head -3
    {"apiVersion":"podium.dev/v1","kind":"ClusterTrace","startedAt":"2026-03-01T22:00:00Z",...}
    {"event":"put","at":0.041,"resource":"nodes","object":{...}}
    {"event":"put","at":0.044,"resource":"pods","object":{...}}

An object that changes is written as a JSON merge patch where that can tell it, and whole where not.
Contract: within `podium.dev/v1` fields are added and never renamed; a reader that meets an event or
a version that it does not know refuses the trace.

Reading a trace, line by line and within bounds, and as far as it goes. A recording that was killed
leaves a file that ends in the middle: all whole lines of it count, and the reader says that it was
cut off. Anything else that is wrong with a file is an InputError.

Writing a trace so that whatever ends the recording, what was written can be read. Lines are
compressed together and brought into the file whole, at least once a second: a process that is
killed, or a disk that is full, costs the lines since then and no more. The file belongs to its
owner alone and never grows past its bound.
"""

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from podium.golang.errors import InputError, PodiumError
from podium.golang.json_values import JsonObject, JsonValue
from podium.net.files.bounded_files import MAGIC
from podium.net.files.private_files import open_private_file
from podium.net.files.versioned_documents import API_VERSION, OLD_API_VERSION

KIND: Final = "ClusterTrace"
MAX_LINE_BYTES: Final = 16 << 20
"""An object of an API server has 1.5 MiB at most, and less of it is written."""


class TraceHeader(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True):
    """`resources` are recorded, `unread` are not, and why."""

    api_version: str = ""
    kind: str = ""
    started_at: str = ""
    podium: str = ""
    resources: tuple[str, ...] = ()
    unread: dict[str, str] = {}


class Put(msgspec.Struct, tag_field="event", tag="put", frozen=True):
    """An object is there, or has changed."""

    at: float
    resource: str
    object: JsonObject


class Patch(msgspec.Struct, tag_field="event", tag="patch", omit_defaults=True, frozen=True):
    """An object has changed; `patch` is a JSON merge patch."""

    at: float
    resource: str
    name: str
    patch: JsonObject
    namespace: str = ""


class Delete(msgspec.Struct, tag_field="event", tag="delete", omit_defaults=True, frozen=True):
    """An object is gone, or a pod has finished. `unseen` is what a list lacked after nobody had
    watched."""

    at: float
    resource: str
    name: str
    namespace: str = ""
    unseen: bool = False


class SnapshotEnd(msgspec.Struct, tag_field="event", tag="snapshot", frozen=True):
    """All that was there at the beginning has been written."""

    at: float


class Gap(msgspec.Struct, tag_field="event", tag="gap", frozen=True):
    """A resource could not be followed from here on."""

    at: float
    resource: str


class Resumed(msgspec.Struct, tag_field="event", tag="resumed", frozen=True):
    """It is followed again; what happened meanwhile is written at the time when it was learnt."""

    at: float
    resource: str


class Relisted(msgspec.Struct, tag_field="event", tag="relisted", frozen=True):
    """The server had forgotten where the watch was; the lines after this one are what differs."""

    at: float
    resource: str


class End(msgspec.Struct, tag_field="event", tag="end", frozen=True):
    """The recording was ended as it should be; `reason` is duration, size or signal."""

    at: float
    reason: str


TraceLine = Put | Patch | Delete | SnapshotEnd | Gap | Resumed | Relisted | End


def make_header(
    started_at: str, podium: str, resources: tuple[str, ...], unread: dict[str, str]
) -> TraceHeader:
    return TraceHeader(API_VERSION, KIND, started_at, podium, resources, unread)


def diff_objects(old: JsonObject, new: JsonObject) -> JsonObject | None:
    """The merge patch from one to the other; None if none can tell it."""
    patch: JsonObject = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            continue
        if _holds_null(value):
            return None
        if isinstance(before, dict) and isinstance(value, dict):
            inner = diff_objects(before, value)
            if inner is None:
                return None
            patch[key] = inner
        else:
            patch[key] = value
    return patch


def _holds_null(value: JsonValue) -> bool:
    """Whether there is a null, which a merge patch takes for a removal."""
    if isinstance(value, dict):
        return any(_holds_null(each) for each in value.values())
    if isinstance(value, list):
        return any(_holds_null(each) for each in value)
    return value is None


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
    if header.api_version not in (API_VERSION, OLD_API_VERSION):
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
    for piece in _read_unpacked(path):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            yield number, line
        if len(rest) > MAX_LINE_BYTES:
            problem = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
            raise InputError(problem, source=path, line=number + 1)


def _read_unpacked(path: str) -> Iterator[bytes]:
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


"""zlib's word for gzip with its header and checksum."""
_BLOCK_BYTES: Final = 256 << 10
_ROOM_FOR_END_BYTES: Final = 512
"""The last line and the trailer of gzip take less."""
MIN_SIZE_BYTES: Final = 4096


class TraceFull(PodiumError):
    """The next lines would make the file larger than allowed."""


class TraceUnwritable(PodiumError):
    """The file cannot be written any more: the disk is full, say."""


class TraceWriter:
    """`size` is what the file has, `lines` how many were written. Raises InputError for a path that
    cannot be used."""

    def __init__(self, path: Path, max_bytes: int, *, replace: bool = False) -> None:
        self._file = open_private_file(path, replace=replace)
        self._max_bytes = max_bytes - _ROOM_FOR_END_BYTES
        self._compressor = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
        self._encoder = msgspec.json.Encoder()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._is_closed = False
        self.size = 0
        self.lines = 0

    def write(self, line: TraceHeader | TraceLine) -> None:
        """Raises TraceFull, TraceUnwritable."""
        encoded = self._encoder.encode(line)
        self._waiting += (encoded, b"\n")
        self._waiting_bytes += len(encoded) + 1
        if self._waiting_bytes >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Bring all lines so far into the file. Raises TraceFull, TraceUnwritable."""
        if not self._waiting or self._is_closed:
            return
        before = self._compressor.copy()
        waiting = b"".join(self._waiting)
        lines = len(self._waiting) // 2
        self._waiting, self._waiting_bytes = [], 0
        block = self._compressor.compress(waiting) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
        if self.size + len(block) > self._max_bytes:
            self._compressor = before
            raise TraceFull("the trace has the size that it may have")
        self._put(block)
        self.lines += lines

    def close(self, end: End | None = None) -> None:
        """Write what waits, and the end of the recording if it has one that is worth a line; what
        does not fit is left out. Raises TraceUnwritable, unless that was reported before."""
        with self._file:
            if self._is_closed:
                return
            with contextlib.suppress(TraceFull):
                self.flush()
            self._is_closed = True
            last = b"" if end is None else self._encoder.encode(end) + b"\n"
            self._put(self._compressor.compress(last) + self._compressor.flush())
            self.lines += end is not None

    def _put(self, block: bytes) -> None:
        view = memoryview(block)
        try:
            while view:
                written = self._file.write(view)
                self.size += written
                view = view[written:]
        except OSError as problem:
            self._is_closed = True
            raise TraceUnwritable((problem.strerror or str(problem)).lower()) from None
