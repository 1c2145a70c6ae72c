"""The kubectl programs of this machine, and a way to run one against a server.

kubectl differs between releases in what it asks for and how, so where several are installed the
oldest and the newest are used: the one on the path, those that lie beside it under names such as
`kubectl.1.33`, and those that `PODIUM_KUBECTL` names.
"""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from support.suite.requirements import KUBECTL
from support.waiting import PATIENCE_S

NEEDED = os.environ.get("PODIUM_NEEDS_KUBECTL") == "1"


@cache
def installed() -> dict[tuple[int, int], Path]:
    """The oldest and the newest kubectl here, by release."""
    named = [Path(each) for each in os.environ.get("PODIUM_KUBECTL", "").split(os.pathsep) if each]
    found = shutil.which("kubectl")
    if found:
        named.append(Path(found))
        named += sorted(Path(found).resolve().parent.glob("kubectl.1.*"))
    by_release: dict[tuple[int, int], Path] = {}
    for path in named:
        by_release.setdefault(_release(path), path)
    return {release: by_release[release] for release in {*_ends(by_release)}}


def _ends(by_release: dict[tuple[int, int], Path]) -> tuple[tuple[int, int], ...]:
    return (min(by_release), max(by_release)) if by_release else ()


def _release(path: Path) -> tuple[int, int]:
    named = re.fullmatch(r"kubectl\.(\d+)\.(\d+)", path.name)
    if named:
        return int(named[1]), int(named[2])
    told = subprocess.run(
        [str(path), "version", "--client", "-o", "json"],
        capture_output=True,
        check=True,
        timeout=PATIENCE_S,
    )
    version = json.loads(told.stdout)["clientVersion"]
    return int(version["major"]), int(re.sub(r"\D", "", version["minor"]))


def releases() -> list[Any]:
    """What to parametrise a fixture with: a release each, or one case that says there is none."""
    found = sorted(installed())
    if found:
        return [pytest.param(each, id=f"kubectl-{each[0]}.{each[1]}") for each in found]
    return [pytest.param(None, id="no-kubectl")]


def required(release: tuple[int, int] | None) -> Path:
    """The program of a release; without any the test is skipped, or fails where one is needed."""
    if release is not None:
        return installed()[release]
    if NEEDED:
        pytest.fail("PODIUM_NEEDS_KUBECTL=1, but there is no kubectl on the path")
    pytest.skip(KUBECTL.reason)


class Started:
    """A kubectl that goes on: its lines as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self) -> str:
        """The next line of its output; fails if none comes."""
        return self._lines.get(timeout=PATIENCE_S)

    def ended(self) -> int:
        """Its exit code, once it has come to an end by itself."""
        return self.process.wait(PATIENCE_S)


class Kubectl:
    """Runs one kubectl as a user would, with a home directory of its own."""

    def __init__(self, program: Path, release: tuple[int, int], kubeconfig: Path, home: Path):
        self._program = program
        self.release = release
        self._environment = {
            "PATH": os.environ.get("PATH", ""),
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(home),
            "TZ": "UTC",
        }
        self._namespace: tuple[str, ...] = ()

    def within(self, namespace: str) -> "Kubectl":
        """The same, with a namespace given to every command."""
        copy = Kubectl.__new__(Kubectl)
        copy.__dict__.update(self.__dict__)
        copy._namespace = ("--namespace", namespace)
        return copy

    def __call__(self, *words: str, stdin: str = "", code: int = 0, **environment: str) -> str:
        """What it says on both outputs; it must end with the exit code."""
        done = subprocess.run(
            [str(self._program), *self._namespace, *words],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**self._environment, **environment},
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == code, f"{words} ended with {done.returncode}: {done.stdout}"
        return done.stdout

    def value(self, *words: str, stdin: str = "") -> Any:
        """What it prints as JSON."""
        return json.loads(self(*words, "-o", "json", stdin=stdin))

    @contextmanager
    def started(self, *words: str) -> Iterator[Started]:
        """A command that does not end by itself, such as a watch."""
        with subprocess.Popen(
            [str(self._program), *self._namespace, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env=self._environment,
        ) as process:
            try:
                yield Started(process)
            finally:
                process.kill()
