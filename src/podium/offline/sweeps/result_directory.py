"""Results that are kept: a directory with a small file for each run that has ended.

A file is named after its run's key and holds the result as JSON, with a digest of it in front. It
is written beside its place and moved there when it is whole; what was cut off all the same, or was
changed, has another digest and counts as none. Runs with other input have other keys, so that one
directory may serve many sweeps.
"""

import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_file

SUFFIX: Final = ".run.json"


class ResultDirectory:
    """Raises InputError if the directory cannot be made, read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise _failed("used", path, problem) from None

    def read(self, key: str) -> bytes | None:
        """The result with this key, if there is a whole one."""
        path = self._place(key)
        try:
            digest, _, result = read_file(path, MAX_CLUSTER_BYTES).partition(b"\n")
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _failed("read", path, problem) from None
        return result if digest == _digest(result) else None

    def write(self, key: str, result: bytes) -> None:
        path = self._place(key)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            try:
                beside.write_bytes(_digest(result) + b"\n" + result)
                os.replace(beside, path)
            except BaseException:
                with suppress(OSError):
                    beside.unlink()
                raise
        except OSError as problem:
            raise _failed("written", path, problem) from None

    def _place(self, key: str) -> Path:
        return self.path / f"{key}{SUFFIX}"


def _digest(result: bytes) -> bytes:
    return sha256(result).hexdigest().encode()


def _failed(what: str, path: Path, problem: OSError) -> InputError:
    reason = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be {what}: {reason}", source=str(path))
