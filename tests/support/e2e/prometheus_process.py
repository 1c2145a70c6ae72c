"""A stock Prometheus on loopback, and a node-exporter of the test's own for it to scrape.

The Debian package's service is not needed: the binary runs with a directory of its own, can be
killed and started again on the same port, and is killed when the test is over. Nothing here sleeps
for longer than a look takes: what is waited for is asked for again and again, with a deadline.
"""

import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from support.suite.requirements import PROMETHEUS
from support.waiting import LOOK_S, PATIENCE_S, wait_until

PROGRAM = shutil.which("prometheus")
NEEDED = os.environ.get("PODIUM_NEEDS_PROMETHEUS") == "1"
_CONFIGURATION = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: nodes
    honor_labels: true
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def required() -> str:
    """The program; without it the test is skipped, or fails where it is needed."""
    if PROGRAM is not None:
        return PROGRAM
    if NEEDED:
        pytest.fail("PODIUM_NEEDS_PROMETHEUS=1, but there is no prometheus on the path")
    pytest.skip(PROMETHEUS.reason)


class Exporter:
    """Metrics as text, of as many nodes as a test likes."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.lines: list[str] = []

    def tell(self, metric: str, label: str = "kubernetes_node", **values: float) -> None:
        """A value of a metric for each node from now on; the label has the node's name."""
        self.lines = [line for line in self.lines if not line.startswith(f"{metric}{{")]
        for name, value in values.items():
            node = name.replace("_", "-")
            self.lines.append(f'{metric}{{{label}="{node}",device="eth0"}} {value}')


@contextmanager
def exporter() -> Iterator[Exporter]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = "".join(f"{line}\n" for line in told.lines).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Tests say enough."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told = Exporter(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(LOOK_S,))
        thread.start()
        try:
            yield told
        finally:
            server.shutdown()
            thread.join()


class Prometheus:
    def __init__(self, directory: Path, configuration: str) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        (directory / "prometheus.yml").write_text(configuration)

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                required(),
                f"--config.file={self._directory / 'prometheus.yml'}",
                f"--storage.tsdb.path={self._directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--log.level=error",
            ],
            cwd=self._directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_S)
            self._process = None

    def until(self, query: str, holds: Callable[[list[Any]], bool]) -> None:
        """Ask until the answer is as wanted."""
        found: list[Any] = []

        def answers() -> bool:
            found[:] = self._ask(f"query?query={quote(query)}").get("result", [])
            return holds(found)

        wait_until(answers, lambda: f"{query}: {found}")

    def rules(self) -> list[dict[str, Any]]:
        """The rules that it evaluates, with their health and state."""
        groups = self._ask("rules").get("groups", [])
        return [rule for group in groups for rule in group["rules"]]

    def _ask(self, what: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", f"/api/v1/{what}")
            answer = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return {}
        finally:
            connection.close()
        found: dict[str, Any] = answer.get("data", {})
        return found


@contextmanager
def prometheus(
    directory: Path, target_port: int = 0, configuration: str = ""
) -> Iterator[Prometheus]:
    """One that scrapes nodes at a port, or does what a configuration says."""
    directory.mkdir()
    made = Prometheus(directory, configuration or _CONFIGURATION.format(port=target_port))
    made.start()
    try:
        yield made
    finally:
        made.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
