"""What it costs to start: commands in processes of their own, from the first instruction on.

Processor time tells what a command imports and does; the wall tells what somebody waits for. What
is measured ends with the process, for `podium run` with its first list of objects: the server that
it asks here has none and only notes when it was asked.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Final, NamedTuple

from podium.bench import process_cost
from podium.golang.errors import InputError

CLUSTER: Final = "cluster.json"
STARTS: Final[tuple[tuple[str, ...], ...]] = (
    ("--help",),
    ("simulate", "--help"),
    ("run", "--help"),
    ("simulat",),
    ("simulate", "--no-such-option"),
    ("simulate", "-f", "no-such-file.yaml"),
    ("simulate", "-f", CLUSTER),
)
RUN: Final = ("run", "--kubeconfig", "kubeconfig", "--leader-elect=false", "--secure-port=0")
_LIST: Final = re.compile(r"/(api/v1|apis/[^/]+/[^/]+)/[a-z]+(\?|$)")
_PATIENCE_S: Final = 120.0


class StartFigures(NamedTuple):
    cpu_s: float
    wall_s: float


@contextmanager
def start_folder() -> Iterator[Path]:
    """A folder with the input of the measured commands: three nodes, a pod for each."""
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{at}"},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for at in range(3)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"pod-{at}"},
            "spec": {
                "containers": [
                    {"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}
                ]
            },
        }
        for at in range(3)
    ]
    with TemporaryDirectory(prefix="podium-bench-") as folder:
        objects = {"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}
        Path(folder, CLUSTER).write_text(json.dumps(objects))
        yield Path(folder)


def measure_start(words: Sequence[str], folder: Path) -> StartFigures:
    """One process, from its start to its end."""
    began = perf_counter()
    process = _start(words, folder)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return StartFigures(used.ru_utime + used.ru_stime, perf_counter() - began)


def measure_first_list(folder: Path) -> StartFigures:
    """A scheduler, from its start to its first list. Raises InputError if it lists nothing."""
    asked = Event()

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if _LIST.match(self.path):
                asked.set()
            with suppress(ConnectionError):  # the scheduler is ended as soon as it has asked
                self.send_error(503)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        _write_kubeconfig(folder / "kubeconfig", server.server_port)
        began = perf_counter()
        process = _start(RUN, folder)
        try:
            if not asked.wait(_PATIENCE_S):
                raise InputError("the scheduler lists nothing", source="podium run")
            return StartFigures(process_cost.cpu_s(process.pid), perf_counter() - began)
        finally:
            process.kill()
            process.wait()
            server.shutdown()


def _start(words: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "podium", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _write_kubeconfig(path: Path, port: int) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "clusters": [{"name": "bench", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "bench", "user": {}}],
    }
    path.write_text(json.dumps(config))
