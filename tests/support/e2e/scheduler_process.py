"""A real `podium run` process for tests, and what it has logged."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from support.waiting import PATIENCE_S

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
        descriptor, name = tempfile.mkstemp(".log", "scheduler-", directory)
        os.close(descriptor)
        self.log = Path(name)
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
        return self.running.wait(PATIENCE_S)


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
