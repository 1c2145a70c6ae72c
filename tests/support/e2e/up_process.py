"""A real `podium up` process for tests: what it says, and what becomes of the objects in it.

Nothing here sleeps: lines and objects are waited for as they come, each with a deadline.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.apiserver.apiserver_process import RunningServer, described
from support.waiting import PATIENCE_S, Deadline

_READY = "podium: Ctrl-C stops it"

Objects = list[Any]


class Output:
    """The lines of a process, read as they come so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self._ended = False
        self._news = threading.Condition()
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def until(self, holds: Callable[[str], bool]) -> str:
        """The first line that is as wanted."""

        def found() -> str | None:
            return next((line for line in self.lines if holds(line)), None)

        with self._news:
            self._news.wait_for(lambda: found() is not None or self._ended, PATIENCE_S)
            line = found()
        assert line is not None, (self.lines, self._complaints())
        return line

    def _complaints(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read() if self._ended else "still running"


class UpProcess:
    """A cluster that is up."""

    def __init__(
        self, process: subprocess.Popen[str], output: Output, server: RunningServer
    ) -> None:
        self.process = process
        self.output = output
        self.server = server

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code after a signal, and what it said on standard error."""
        self.process.send_signal(number)
        self.process.wait(PATIENCE_S)
        assert self.process.stderr is not None
        return self.process.returncode, self.process.stderr.read()

    # objects

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """An answer to a request that is granted."""
        status, answer = self.server.ask(method, path, body)
        assert status < 300, answer
        return answer

    def change(self, path: str, change: Callable[[Any], None]) -> None:
        """Read, change and write, again if somebody else was faster."""
        for _ in range(20):
            found = self.ask("GET", path)
            change(found)
            status, answer = self.server.ask("PUT", path, found)
            if status != 409:
                assert status < 300, answer
                return
        raise AssertionError(f"{path} never stands still")

    def until(self, path: str, holds: Callable[[Objects], bool]) -> Objects:
        """Watch the objects of a path until they are as wanted."""
        listed = self.ask("GET", path)
        objects = {each["metadata"]["uid"]: each for each in listed["items"]}
        if holds(list(objects.values())):
            return list(objects.values())
        for event in self._watched(path, listed["metadata"]["resourceVersion"]):
            obj = event["object"]
            uid = obj["metadata"]["uid"]
            if event["type"] == "DELETED":
                objects.pop(uid, None)
            else:
                objects[uid] = obj
            if holds(list(objects.values())):
                return list(objects.values())
        raise AssertionError(f"{path} did not come to that: {list(objects.values())}")

    def _watched(self, path: str, version: str) -> Iterator[Any]:
        deadline = Deadline()
        connection = self.server.connect(PATIENCE_S)
        mark = "&" if "?" in path else "?"
        query = f"{mark}watch=1&resourceVersion={version}&timeoutSeconds={PATIENCE_S:.0f}"
        headers = {"Authorization": f"Bearer {self.server.token}"}
        try:
            connection.request("GET", path + query, headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            for line in response:
                yield json.loads(line)
                if deadline.has_passed:
                    return
        finally:
            connection.close()


@contextmanager
def up(directory: Path, *arguments: str) -> Iterator[UpProcess]:
    """`podium up` on a free port, ready; whatever is left of it afterwards is killed."""
    kubeconfig = directory / "kubeconfig"
    command = [sys.executable, "-m", "podium", "up", "--port", "0"]
    with subprocess.Popen(
        [*command, "--kubeconfig-out", str(kubeconfig), *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONWARNINGS": "default", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            output = Output(process)
            output.until(lambda line: line == _READY)
            yield UpProcess(process, output, described(process, kubeconfig))
        finally:
            process.kill()
