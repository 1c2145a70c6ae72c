"""A second tree of Podium's sources, in which a test makes a change and counts the files.

Files are links to the real ones until they are edited, so a tree costs no more than its names.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import podium

_TESTS = Path(__file__).parents[2]


class SourceTree:
    """Podium as it would be after a change."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.edited: set[str] = set()
        """The files that the change touches, under `src/podium`."""
        real = Path(podium.__file__).resolve().parent
        shutil.copytree(real, root / "podium", copy_function=os.symlink)

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Put a changed text in a file's place."""
        file = self._root / "podium" / path
        text = change(file.read_text(encoding="utf-8"))
        file.unlink()
        file.write_text(text, encoding="utf-8")
        self.edited.add(path)

    def add(self, path: str, text: str) -> None:
        """Put a new file in its place."""
        file = self._root / "podium" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.edited.add(path)

    def run(self, module: str, *arguments: str) -> str:
        """What a module of tests/ prints when it runs with this tree's Podium."""
        paths = os.pathsep.join((str(self._root), str(_TESTS)))
        return _output("-m", module, *arguments, env={**os.environ, "PYTHONPATH": paths})


def run_python(program: str) -> str:
    """What a program prints in a process of its own."""
    return _output("-c", program, env=dict(os.environ))


def _output(*arguments: str, env: dict[str, str]) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
