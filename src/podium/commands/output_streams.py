"""Standard output and standard error that may go away or be full, without taking the answer along.

`podium simulate | head` closes the pipe while there is more to say: nobody reads the rest, and the
exit code is still the answer's. A full disk is another matter: what was asked for is not there, so
it is told, and the exit code says so. Nothing about either is a bug.
"""

import errno
import io
import os
import sys
from typing import Any, TextIO


class _Descriptor(io.FileIO):
    """A file descriptor that takes everything; what it could not write is noted."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.problem: OSError | None = None
        self.reader_left = False

    def write(self, data: Any, /) -> int:
        if self.problem is None and not self.reader_left:
            try:
                return super().write(data)
            except OSError as problem:
                self.reader_left = problem.errno in (errno.EPIPE, errno.ECONNRESET)
                self.problem = None if self.reader_left else problem
        return memoryview(data).nbytes


class LastingStreams:
    """The process's streams, replaced by such that outlast their readers. Streams that are not the
    process's own, as in tests, are left alone."""

    def __init__(self) -> None:
        self._out = _replace("stdout", sys.stdout, sys.__stdout__)
        _replace("stderr", sys.stderr, sys.__stderr__)

    def problem(self) -> str:
        """Why not all of standard output was written; empty if it was, or if nobody reads it."""
        sys.stdout.flush()
        found = self._out.problem if self._out is not None else None
        return "" if found is None else (found.strerror or str(found)).lower()


def _replace(name: str, stream: TextIO | None, own: TextIO | None) -> _Descriptor | None:
    if stream is None:  # closed before the process began
        setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        return None
    if stream is not own:
        return None
    try:
        descriptor = _Descriptor(stream.fileno())
    except (OSError, ValueError):
        return None
    stream.flush()
    wrapper = io.TextIOWrapper(
        io.BufferedWriter(descriptor),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=name == "stderr" or stream.isatty(),
    )
    setattr(sys, name, wrapper)
    return descriptor
