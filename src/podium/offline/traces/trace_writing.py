"""Writing a trace so that whatever ends the recording, what was written can be read.

Lines are compressed together and brought into the file whole, at least once a second: a process
that is killed, or a disk that is full, costs the lines since then and no more. The file belongs to
its owner alone and never grows past its bound.
"""

import contextlib
import zlib
from pathlib import Path
from typing import Final

import msgspec

from podium.golang.errors import PodiumError
from podium.net.files.private_files import open_private_file
from podium.offline.traces.trace_lines import End, TraceHeader, TraceLine

_GZIP: Final = 31
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
        does not fit is left out. Raises TraceUnwritable, unless that was told before."""
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
