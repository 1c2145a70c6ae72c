"""The machine that a scheduler starts on: its files, variables and ports.

Contract: what does not work is worded as Go words it, since these texts end up in kube-scheduler's
messages: the call, the path, and the reason in lower case.
"""

import errno
import os
from pathlib import Path

from podium.live.secure_socket import listen
from podium.net.files.bounded_files import read_file
from podium.scheduler.config.flags.client_settings import FileProblem
from podium.scheduler.config.flags.options import SecureServingFlags


class LocalHost:
    """The host that this process runs on (`podium.scheduler.config.flags.client_settings`)."""

    def read(self, path: str) -> bytes:
        try:
            return read_file(path)
        except (OSError, ValueError) as problem:
            # Go can open a directory, and then not read it.
            number = getattr(problem, "errno", None)
            call = "read" if number in (errno.EISDIR, errno.EFBIG) else "open"
            raise _refusal(call, path, problem) from None

    def write(self, path: str, text: str) -> None:
        """Raises FileProblem."""
        try:
            Path(path).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise _refusal("open", path, problem) from None

    def find(self, path: str) -> None:
        try:
            os.stat(path)
        except (OSError, ValueError) as problem:
            raise _refusal("stat", path, problem) from None

    def open(self, path: str) -> None:
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except (OSError, ValueError) as problem:
            raise _refusal("open", path, problem) from None

    def absolute(self, path: str, below: str) -> str:
        return os.path.abspath(os.path.join(os.path.dirname(below), path))

    def variable(self, name: str) -> str:
        return os.environ.get(name, "")


def check_port(serving: SecureServingFlags) -> None:
    """Whether the endpoints could be served there. Raises StartRefused."""
    listen(serving).close()


def _refusal(call: str, path: str, problem: OSError | ValueError) -> FileProblem:
    return FileProblem(f"{call} {path}: {_reason(problem)}")


def _reason(problem: OSError | ValueError) -> str:
    # A ValueError is about a path with a zero byte in it.
    number = problem.errno if isinstance(problem, OSError) else errno.EINVAL
    return os.strerror(number or errno.EIO).lower()
