"""Runs of `podium run` in a directory of their own, and what was said in them.

The directory holds what the recorded invocations expect: `KUBECONFIG`, a kubeconfig that works, and
`FILE`, the smallest configuration. There is no cluster around it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from podium.commands import main
from podium.golang.documents import read_documents

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- name: here
  cluster: {server: "http://127.0.0.1:1"}
users:
- name: me
  user: {}
contexts:
- name: default
  context: {cluster: here, user: me}
current-context: default
"""
FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: KUBECONFIG
"""
_HEADER = re.compile(r"^([IWE])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.py:\d+\] ", re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """How a run ended; log lines are without their headers."""

    code: int
    out: str
    err: str
    written: str | None

    def lines(self, letter: str) -> list[str]:
        """Log lines of one severity, those of several lines as one text."""
        pieces = _HEADER.split(self.err)
        return [
            text.removesuffix("\n")
            for severity, text in zip(pieces[1::2], pieces[2::2], strict=True)
            if severity == letter
        ]

    @property
    def bare(self) -> list[str]:
        """What stands on standard error before any log line."""
        text: str = _HEADER.split(self.err)[0]
        return text.splitlines()

    @property
    def first_error(self) -> str | None:
        told = [line for line in self.bare if line.startswith("Error: ")]
        found = told or self.lines("E") or self.bare
        return found[0] if found and self.code else None

    @property
    def effective(self) -> Any:
        if self.written is None:
            return None
        (document,) = read_documents(self.written.encode(), "OUT")
        return document.value


class Scheduler:
    """A place to start `podium run` in; nothing in its surroundings hints at a cluster."""

    def __init__(
        self,
        directory: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(directory)
        for variable in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBECONFIG"):
            monkeypatch.delenv(variable, raising=False)
        self._directory = directory
        self._capsys = capsys
        self.write("KUBECONFIG", KUBECONFIG)
        self.write("FILE", FILE)

    def write(self, name: str, text: str) -> None:
        (self._directory / name).write_bytes(text.encode())

    def run(self, *arguments: str) -> Ended:
        self._capsys.readouterr()
        code = main(["run", *arguments])
        captured = self._capsys.readouterr()
        out = self._directory / "OUT"
        written = out.read_text() if out.exists() else None
        return Ended(code, captured.out, captured.err, written)
