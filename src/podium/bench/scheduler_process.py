"""A scheduler, and `podium apiserver`, in processes of their own.

It may be any scheduler that takes a kubeconfig or a KubeSchedulerConfiguration. The configuration
that is written for it raises the limits on requests so far that they are not what is measured.

Contract: the process has ended when the context is left, however that happens. One that ends by
itself is a `SchedulerEnded` that shows the end of its log.

`podium apiserver` in a process of its own, and what it costs the machine. The bench does not
know the server from the inside: it starts the command that users start, and reads processor time
and memory from where the kernel tells them.
"""

import base64
import os
import shlex
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import yaml

from podium.bench import process_cost
from podium.golang.errors import InputError
from podium.net.tls import client_context

KUBECONFIG: Final = "{kubeconfig}"
CONFIG: Final = "{config}"
OWN_COMMAND: Final[tuple[str, ...]] = (
    *(sys.executable, "-m", "podium", "run", "--config", CONFIG),
    *("--secure-port=0", "--leader-elect=false"),
)
_LIMITLESS: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: {kubeconfig}
  qps: 100000
  burst: 100000
leaderElection:
  leaderElect: false
"""
_GOODBYE_S: Final = 10.0
_LAST_LINES: Final = 15


class SchedulerEnded(InputError):
    """A scheduler that was to be measured is not there, or does nothing; `log` is the end of what
    it logged."""

    def __init__(self, problem: str, *, source: str, log: Sequence[str] = ()) -> None:
        super().__init__(problem, source=source)
        self.log = tuple(log)

    @property
    def lines(self) -> tuple[str, ...]:
        return (*super().lines, *self.log)


class SchedulerProcess:
    def __init__(self, process: "subprocess.Popen[bytes]", name: str, log: Path) -> None:
        self._process = process
        self._name = name
        self._log = log

    def check(self) -> None:
        """Raises SchedulerEnded if the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise self.trouble(f"ended with code {code}")

    def trouble(self, what: str) -> SchedulerEnded:
        """What is wrong with the scheduler, with the end of its log."""
        lines = self._log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        told = "; the end of its log:" if lines else "; it logged nothing"
        return SchedulerEnded(f"the scheduler {what}{told}", source=self._name, log=lines)

    def cpu_s(self) -> float:
        self.check()
        return process_cost.cpu_s(self._process.pid)

    def peak_rss_mb(self) -> float:
        self.check()
        return process_cost.peak_rss_mb(self._process.pid)


def command_of(written: str) -> tuple[str, ...]:
    """The words of a command line. Raises InputError for one that knows of no API server."""
    try:
        words = tuple(shlex.split(written))
    except ValueError as problem:
        raise InputError(f"not a command line: {problem}", source=written) from None
    if not any(KUBECONFIG in word or CONFIG in word for word in words):
        raise InputError(
            "the command names no API server for the scheduler",
            source=written,
            remedy=f"write {CONFIG} or {KUBECONFIG} where the file's name belongs",
        )
    return words


@contextmanager
def scheduler_process(command: Sequence[str], kubeconfig: Path) -> Iterator[SchedulerProcess]:
    """Run a scheduler; `{kubeconfig}` and `{config}` in its command become names of files.

    Raises SchedulerEnded if it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
        config, log = Path(directory, "scheduler.yaml"), Path(directory, "log")
        config.write_text(_LIMITLESS.format(kubeconfig=kubeconfig))
        names = {KUBECONFIG: str(kubeconfig), CONFIG: str(config)}
        words = [_fill_names(word, names) for word in command]
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    words, stdout=output, stderr=subprocess.STDOUT, process_group=0
                )
            except OSError as problem:
                raise SchedulerEnded(
                    f"the scheduler cannot be started: {problem.strerror}", source=words[0]
                ) from problem
            try:
                yield SchedulerProcess(process, shlex.join(words), log)
            finally:
                _end(process)


def _fill_names(word: str, names: dict[str, str]) -> str:
    for placeholder, name in names.items():
        word = word.replace(placeholder, name)
    return word


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The process with all that it has started."""
    try:
        _signal(process, signal.SIGTERM)
        process.wait(_GOODBYE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


class NotServing(RuntimeError):
    """The server of the measurement did not start."""


@dataclass(frozen=True, slots=True)
class ServedApi:
    """Where the server listens, how to get in, and which process it is."""

    host: str
    port: int
    token: str
    tls: ssl.SSLContext | None
    process: int
    kubeconfig: Path

    def cpu_s(self) -> float:
        """Processor time that the process has used so far, in all of its threads."""
        return process_cost.cpu_s(self.process)

    def rss_mb(self) -> float:
        """Memory that the process holds now."""
        return process_cost.rss_mb(self.process)


@contextmanager
def served_api(*, durable: bool = False, tls: bool = False) -> Iterator[ServedApi]:
    """Run a server on a free port of the loopback; its data goes with it."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
        kubeconfig = Path(directory, "kubeconfig")
        command = [sys.executable, "-m", "podium", "apiserver", "--port", "0"]
        command += ["--kubeconfig-out", str(kubeconfig)]
        command += ["--data", str(Path(directory, "data"))] if durable else []
        command += [] if tls else ["--plain"]
        complaints = Path(directory, "stderr")
        with (
            complaints.open("w") as stderr,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
        ):
            try:
                assert process.stdout is not None
                if "serving" not in process.stdout.readline():
                    raise NotServing(f"podium apiserver did not start: {complaints.read_text()}")
                yield _find_server(kubeconfig, process.pid)
            finally:
                process.terminate()


def _find_server(kubeconfig: Path, process: int) -> ServedApi:
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    address = urlsplit(cluster["server"])
    tls = None
    if "certificate-authority-data" in cluster:
        tls = client_context(base64.b64decode(cluster["certificate-authority-data"]))
    assert address.hostname is not None
    assert address.port is not None
    token = user.get("token", "")
    return ServedApi(address.hostname, address.port, token, tls, process, kubeconfig)
