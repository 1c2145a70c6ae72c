"""A file whose content is read again when it has changed.

Certificates are replaced while a scheduler runs. Looking at a file's times costs some microseconds,
so whoever needs the content asks for it each time. A file that cannot be read for the moment, half
way through being replaced, say, counts with what it was.
"""

import logging
import os
from typing import Final

from podium.net.files.bounded_files import read_file

_LOG: Final = logging.getLogger("podium.live")


class WatchedFile:
    def __init__(self, path: str) -> None:
        """No path: a file that is always empty."""
        self._path = path
        self._seen: tuple[int, ...] = ()
        self._content = b""

    def content(self) -> bytes:
        if not self._path:
            return b""
        try:
            found = os.stat(self._path)
            mark = (found.st_mtime_ns, found.st_size, found.st_ino)
            if mark != self._seen:
                self._content = read_file(self._path)
                self._seen = mark
        except OSError as problem:
            if self._seen:
                _LOG.error("%s cannot be read any more: %s", self._path, problem)
                self._seen = ()
        return self._content
