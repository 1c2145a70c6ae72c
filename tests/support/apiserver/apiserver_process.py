"""A real `podium apiserver` process for tests, and a client that speaks HTTPS to it."""

import base64
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from support.waiting import PATIENCE_S


@dataclass
class ApiServer:
    """A server that listens, as a kubeconfig says."""

    kubeconfig: Path
    url: str
    token: str
    context: ssl.SSLContext | None

    def connect(self, timeout_s: float = 30) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        if self.context is None:
            return http.client.HTTPConnection(host, parts.port, timeout=timeout_s)
        return http.client.HTTPSConnection(
            host, parts.port, timeout=timeout_s, context=self.context
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        connection: http.client.HTTPConnection | None = None,
    ) -> tuple[int, Any]:
        used = connection or self.connect()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        used.request(method, path, None if body is None else json.dumps(body), headers)
        response = used.getresponse()
        content = response.read()
        if connection is None:
            used.close()
        return response.status, json.loads(content) if content else None


@dataclass
class RunningServer(ApiServer):
    """One that runs as a process of the test's own."""

    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it without any chance to tidy up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_S)

    def stop(self) -> tuple[int, str]:
        """End it politely; its exit code and what it said on standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err


@contextmanager
def serving(directory: Path, *arguments: str) -> Iterator[RunningServer]:
    """Run a server, on a free port unless told; whatever is left of it afterwards is killed."""
    kubeconfig = directory / "kubeconfig"
    port = () if "--port" in arguments else ("--port", "0")
    command = [sys.executable, "-m", "podium", "apiserver", *port]
    process = subprocess.Popen(
        [*command, "--kubeconfig-out", str(kubeconfig), *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONWARNINGS": "default"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "serving" in line, process.communicate(timeout=PATIENCE_S)
        yield described(process, kubeconfig)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_S)


def described(process: subprocess.Popen[str], kubeconfig: Path) -> RunningServer:
    """A server as the kubeconfig that it has written leads to it."""
    found = served_at(kubeconfig)
    return RunningServer(found.kubeconfig, found.url, found.token, found.context, process)


def served_at(kubeconfig: Path) -> ApiServer:
    """The server that a kubeconfig with one context leads to."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = None
    if "certificate-authority-data" in cluster:
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
    return ApiServer(kubeconfig, cluster["server"], user.get("token", ""), context)
