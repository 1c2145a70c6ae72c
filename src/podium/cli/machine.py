"""The machine that a scheduler starts on: its files, variables and ports.

Contract: what does not work is worded as Go words it, since these texts end up in kube-scheduler's
messages: the call, the path, and the reason in lower case.
"""

import errno
import os
import socket
from pathlib import Path
from typing import Final

from podium.config.flags.options import SecureServing
from podium.config.flags.surroundings import FileProblem, StartRefused

_UNSPECIFIED: Final = ("0.0.0.0", "::")


class Machine:
    """The real surroundings (`podium.config.flags.surroundings`)."""

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except IsADirectoryError as problem:
            # Go can open a directory, and then not read it.
            raise _refusal("read", path, problem) from None
        except (OSError, ValueError) as problem:
            raise _refusal("open", path, problem) from None

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


def check_port(serving: SecureServing) -> None:
    """Whether the endpoints could be served there. Raises StartRefused."""
    address, port = serving.bind_address, serving.secure_port
    dual = address in _UNSPECIFIED and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual or ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if serving.permit_port_sharing:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if dual:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listener.bind(("::" if dual else address, port))
            listener.listen()
    except OSError as problem:
        where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        raise StartRefused(
            f"failed to create listener: failed to listen on {where}: "
            f"listen tcp {where}: bind: {_reason(problem)}"
        ) from None


def _refusal(call: str, path: str, problem: OSError | ValueError) -> FileProblem:
    return FileProblem(f"{call} {path}: {_reason(problem)}")


def _reason(problem: OSError | ValueError) -> str:
    # A ValueError is about a path with a zero byte in it.
    number = problem.errno if isinstance(problem, OSError) else errno.EINVAL
    return os.strerror(number or errno.EIO).lower()
