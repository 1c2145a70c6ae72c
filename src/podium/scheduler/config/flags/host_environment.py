"""What starting a scheduler needs to know about the machine, asked through one small interface.

This package does no I/O: whoever starts the scheduler brings the answers, and a test brings its
own. Refusals are worded as Go's `os` package does: `open x: no such file or directory`.
"""

from typing import Protocol


class StartRefused(Exception):
    """The scheduler cannot start; the text is what kube-scheduler would exit with."""


class FileProblem(StartRefused):
    """A file that cannot be had; the text is that of Go's `os` package."""


class HostEnvironment(Protocol):
    def read(self, path: str) -> bytes:
        """A file's content. Raises FileProblem."""

    def find(self, path: str) -> None:
        """Make sure that a file is there, whatever it is. Raises FileProblem."""

    def open(self, path: str) -> None:
        """Make sure that a file can be opened. Raises FileProblem."""

    def absolute(self, path: str, below: str) -> str:
        """A path that another file names, relative to that file."""

    def variable(self, name: str) -> str:
        """An environment variable, or ""."""
