"""The steps of a transcript that run kubectl: to their end, or beside other steps."""

import json
import os
import re
import subprocess
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final

from support.apiserver.transcript_normalising import Normaliser, Raw
from support.apiserver.transcript_requests import LINGER_S
from support.waiting import PATIENCE_S, Deadline, wait_until

_TIMED_OUT: Final = "timeout"
"""In place of an exit code."""
_LOG_REQUESTS: Final = "-v=6"
_WATCHES: Final = re.compile(r"[?&]watch=(true|1)\b.* \"?(status=\")?200\b")
_LOGGED: Final = re.compile(r"^I\d{4} .*\n", re.MULTILINE)
"""Lines of the log that `_LOG_REQUESTS` asks for."""


class Commands:
    """Runs one kubectl in a home directory of its own."""

    def __init__(self, kubectl: Path, kubeconfig: Path, home: Path) -> None:
        self._kubectl = kubectl
        self._home = home
        self._environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(home),
            "KUBECONFIG": str(kubeconfig.resolve()),
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "TMPDIR": str(home),
        }

    def run(self, step: Raw) -> "Output":
        """Run a command to its end."""
        try:
            done = subprocess.run(
                self._prepare(step),
                input=step.get("stdin", ""),
                capture_output=True,
                text=True,
                env={**self._environment, **step.get("env", {})},
                cwd=self._home,
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Output(_TIMED_OUT, "", "")
        return Output(done.returncode, done.stdout, done.stderr)

    def start(self, step: Raw) -> "StartedCommand":
        """Start a command that other steps go on beside, with a log of its requests."""
        errors = self._home / f"stderr-{step['name']}"
        with errors.open("w") as stderr:
            process = subprocess.Popen(
                [*self._prepare(step), _LOG_REQUESTS],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env={**self._environment, **step.get("env", {})},
                cwd=self._home,
            )
        return StartedCommand(process, errors, step)

    def _prepare(self, step: Raw) -> list[str]:
        for name, content in step.get("files", {}).items():
            (self._home / name).write_text(content)
        return [str(self._kubectl), *step["args"]]


class Output:
    """What a command printed and how it ended; `code` is None when it was stopped."""

    def __init__(self, code: int | str | None, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    def decode(self) -> Raw | None:
        """Standard output when it is one JSON object."""
        if not self.out.lstrip().startswith("{"):
            return None
        try:
            found: Any = json.loads(self.out)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


class StartedCommand:
    """A kubectl that runs: its lines as they come."""

    def __init__(self, process: subprocess.Popen[str], errors: Path, step: Raw) -> None:
        self.step = step
        self._process = process
        self._errors = errors
        self._lines: list[str] = []
        self._coming: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._coming.put(line)
        self._coming.put(None)

    def wait_for_lines(self, count: int) -> None:
        """Wait until so many lines were printed, or the command has ended."""
        deadline = Deadline()
        while len(self._lines) < count and self._take_line(deadline):
            pass

    def wait_for_watch(self) -> None:
        """Wait until it has begun to watch, which its log says, or has ended."""
        wait_until(
            lambda: _WATCHES.search(self._errors.read_text()) or self._process.poll() is not None
        )

    def stop_after_lines(self, count: int) -> Output:
        """Stop it once it has printed so many lines, and has had time for one too many."""
        self.wait_for_lines(count)
        deadline = Deadline(LINGER_S)
        while self._take_line(deadline):
            pass
        self.kill()
        return Output(None, "".join(self._lines), "")

    def wait(self) -> Output:
        """Wait for its end."""
        deadline = Deadline()
        while self._take_line(deadline):
            pass
        try:
            code: int | str = self._process.wait(deadline.timeout_s)
        except subprocess.TimeoutExpired:
            code = _TIMED_OUT
        self.kill()
        return Output(code, "".join(self._lines), _LOGGED.sub("", self._errors.read_text()))

    def _take_line(self, deadline: Deadline) -> bool:
        try:
            line = self._coming.get(timeout=deadline.timeout_s)
        except Empty:
            return False
        if line is None:
            self._coming.put(None)
            return False
        self._lines.append(line)
        return True

    def kill(self) -> None:
        """End it if it runs, and take what it has printed until then."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        while self._take_line(Deadline(0)):
            pass
        assert self._process.stdout is not None
        self._process.stdout.close()


def normalise_output(output: Output, step: Raw, normaliser: Normaliser) -> Raw:
    """The answer of a command in the form of `expect`; JSON is not in it yet."""
    answer: Raw = {} if output.code is None else {"exit": output.code}
    if output.decode() is None:
        answer["stdout"] = select_lines(normaliser.text(output.out), step)
    answer["stderr"] = normaliser.text(output.err)
    return answer


def select_lines(text: str, step: Raw) -> str:
    """The lines that a step wants compared, in the order that it wants."""
    lines = text.split("\n")
    if "selectLines" in step:
        wanted = [re.compile(pattern) for pattern in step["selectLines"]]
        lines = [line for line in lines if any(pattern.search(line) for pattern in wanted)]
    return "\n".join(sorted(lines) if step.get("sortLines") else lines)
