"""A real `podium run` process for tests, and what it has logged."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

WITHIN_S = 60.0
COMMAND = (sys.executable, "-m", "podium", "run")


class SchedulerProcess:
    """A scheduler that runs in a directory, with some variables more."""

    def __init__(
        self,
        directory: Path,
        *arguments: str,
        command: tuple[str, ...] = COMMAND,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.log = directory / f"scheduler-{time.monotonic_ns()}.log"
        variables = {**os.environ, "PYTHONWARNINGS": "default", **environment}
        variables.pop("KUBECONFIG", None)
        with self.log.open("w") as out:
            self.running = subprocess.Popen(
                [*command, *arguments], cwd=directory, env=variables, stderr=out, stdout=out
            )

    @property
    def said(self) -> str:
        return self.log.read_text()

    def stopped(self, number: int = signal.SIGTERM) -> int:
        """Its exit code after a signal."""
        self.running.send_signal(number)
        return self.running.wait(30)


@contextmanager
def running_scheduler(directory: Path, *arguments: str) -> Iterator[SchedulerProcess]:
    """Ended in any case; it must not have broken or left anything open."""
    process = SchedulerProcess(directory, *arguments)
    try:
        yield process
    finally:
        if process.running.poll() is None:
            process.running.kill()
            process.running.wait()
    assert "Traceback" not in process.said
    assert "ResourceWarning" not in process.said


def until(holds: Callable[[], Any]) -> Any:
    """What holds, once it does."""
    deadline = time.monotonic() + WITHIN_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)
    return found
