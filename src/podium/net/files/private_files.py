"""Files that hold secrets: keys, tokens, kubeconfigs, the API server's objects.

Their owner alone can read them, also while they are written and also if they were there before
with a wider mode. Nothing is written through a symbolic link, into another user's file or into a
device: a file is written beside its place under a name that nobody can guess, and takes its place
when it is whole. A directory that others can write is no place for such files, since whoever can
write it can exchange them.

Contract: whatever is refused or does not work is an InputError that names the path and a remedy.
"""

import contextlib
import os
import secrets
import stat
from io import FileIO
from pathlib import Path
from typing import Final

from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_input

PRIVATE_MODE: Final = 0o600
PRIVATE_DIRECTORY_MODE: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_private_file(path: Path, content: bytes, mode: int = PRIVATE_MODE) -> None:
    """Write a file at once or not at all. A mode of its own is for what is no secret and still
    nobody else's to write, such as a certificate."""
    _find_regular_file(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(beside, _CREATE, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, mode)
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except (OSError, ValueError) as problem:
        raise _describe_failure("written", path, problem) from None


def read_private_file(path: Path) -> bytes | None:
    """What was written here before; None if nothing was. A wider mode is narrowed."""
    return read_input(str(path)) if narrow_mode(path) else None


def narrow_mode(path: Path) -> bool:
    """Take a file away from everybody but its owner; False if it is not there.

    The file is not opened: closing it again would let go of the locks that this process has on it.
    """
    found = _find_regular_file(path)
    if found is None:
        return False
    if stat.S_IMODE(found.st_mode) & _OTHERS:
        try:
            os.chmod(path, stat.S_IMODE(found.st_mode) & ~_OTHERS)
        except OSError as problem:
            raise _describe_failure("kept private", path, problem) from None
    return True


def create_private_file(path: Path) -> None:
    """Make sure that a file is there, empty if it is new."""
    if narrow_mode(path):
        return
    try:
        os.close(os.open(path, _CREATE, PRIVATE_MODE))
    except OSError as problem:
        raise _describe_failure("written", path, problem) from None


def open_private_file(path: Path, *, replace: bool = False) -> FileIO:
    """A new file to write to piece by piece; one that is there already is replaced or refused."""
    if _find_regular_file(path) is not None and not replace:
        remedy = "name another file, or let this one be replaced"
        raise InputError("is there already", source=str(path), remedy=remedy)
    try:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        descriptor = os.open(path, _CREATE, PRIVATE_MODE)
        os.fchmod(descriptor, PRIVATE_MODE)
        return FileIO(descriptor, "wb")
    except (OSError, ValueError) as problem:
        raise _describe_failure("written", path, problem) from None


def create_private_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing, for their owner alone."""
    try:
        for each in (*reversed(path.parents), path):
            if not each.exists():
                each.mkdir(mode=PRIVATE_DIRECTORY_MODE, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(0, "is not a directory")
    except (OSError, ValueError) as problem:
        raise _describe_failure("used", path, problem) from None


def refuse_shared_directory(path: Path) -> None:
    """Raises InputError for a directory that somebody else can write."""
    try:
        found = path.stat()
    except OSError as problem:
        raise _describe_failure("used", path, problem) from None
    if found.st_uid not in (os.geteuid(), 0):
        raise InputError(
            f"belongs to another user ({found.st_uid}), who could exchange what is kept in it",
            source=str(path),
            remedy="name a directory of your own, or one that does not exist yet",
        )
    if found.st_mode & _OTHERS_WRITE:
        raise InputError(
            f"others can write it (mode {stat.S_IMODE(found.st_mode):04o}) and could exchange what"
            " is kept in it",
            source=str(path),
            remedy=f"chmod go-w {path}, or name a directory that does not exist yet",
        )


def _find_regular_file(path: Path) -> os.stat_result | None:
    """None if there is no file. Raises InputError for what is not a plain file of ours."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as problem:
        raise _describe_failure("used", path, problem) from None
    if stat.S_ISLNK(found.st_mode):
        remedy = "name the file that it leads to, or remove the link"
        raise InputError("is a symbolic link", source=str(path), remedy=remedy)
    if not stat.S_ISREG(found.st_mode):
        raise InputError("is not a regular file", source=str(path), remedy="name another path")
    if found.st_uid != os.geteuid():
        message = f"belongs to another user ({found.st_uid})"
        raise InputError(message, source=str(path), remedy="remove it, or name another path")
    return found


def _describe_failure(what: str, path: Path, problem: OSError | ValueError) -> InputError:
    reason = getattr(problem, "strerror", None) or str(problem)
    return InputError(f"cannot be {what}: {reason.lower()}", source=str(path))
