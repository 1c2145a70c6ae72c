"""One bash in which the commands of a page run after each other, as in a reader's terminal.

Variables, the directory and background jobs stay from command to command. What a command prints,
errors too, goes to a file; what runs in the background has one of its own.
"""

import os
import select
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from support.waiting import PATIENCE_S

COLUMNS = 120
_WAITED_FOR = 127
"""What bash answers to `wait` for what was waited for before."""

# A page has no reason to say ports; tests beside it want theirs.
_PODIUM = """#!/bin/sh
case " $* " in
  *" --port"*) ;;
  " up "* | " apiserver "*) set -- "$@" --port 0 ;;
esac
exec {python} -m podium "$@"
"""


class TooSlow(Exception):
    """A command did not come to an end."""


class Ended(NamedTuple):
    code: int
    printed: list[str]


class Job(NamedTuple):
    """A command in the background."""

    pid: int
    log: Path

    def is_running(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def printed(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()


class Shell:
    def __init__(self, bash: "subprocess.Popen[str]", scratch: Path) -> None:
        self._bash = bash
        self._scratch = scratch
        self.jobs: list[Job] = []

    def run(self, command: str, timeout_s: float) -> Ended:
        """Run it to its end."""
        out = self._scratch / "out"
        words = f"eval {shlex.quote(command)} </dev/null >{shlex.quote(str(out))} 2>&1"
        code = int(self._ask(f"{words}; echo $?", timeout_s))
        return Ended(code, out.read_text(errors="replace").splitlines())

    def start(self, command: str) -> Job:
        """Run a command that ends in `&`."""
        log = self._scratch / f"job-{len(self.jobs)}"
        log.touch()
        words = f">{shlex.quote(str(log))} 2>&1 </dev/null {command}"
        pid = int(self._ask(f"{words}\necho $!", PATIENCE_S))
        job = Job(pid, log)
        self.jobs.append(job)
        return job

    def end(self, job: Job) -> int:
        """The exit code of a job, which is told to end if it has not; 0 if the page knows it."""
        code = int(self._ask(f"kill {job.pid} 2>/dev/null; wait {job.pid}; echo $?", PATIENCE_S))
        return 0 if code == _WAITED_FOR else code

    def _ask(self, words: str, timeout_s: float) -> str:
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.write(words + "\n")
        self._bash.stdin.flush()
        if not select.select([self._bash.stdout], [], [], timeout_s)[0]:
            raise TooSlow
        return self._bash.stdout.readline()


@contextmanager
def shell(directory: Path, scratch: Path) -> Iterator[Shell]:
    """A bash in a directory; whatever is left of it and its jobs afterwards is killed."""
    programs = scratch / "bin"
    programs.mkdir()
    podium = programs / "podium"
    podium.write_text(_PODIUM.format(python=shlex.quote(sys.executable)))
    podium.chmod(0o755)
    path = os.pathsep.join(
        (str(programs), str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    )
    environment = {
        "PATH": path,
        "HOME": str(scratch),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLUMNS": str(COLUMNS),
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "default",
    }
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile"],
        cwd=directory,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        start_new_session=True,
    ) as bash:
        try:
            yield Shell(bash, scratch)
        finally:
            # Its session holds nothing but what the page has started.
            os.killpg(bash.pid, 9)
