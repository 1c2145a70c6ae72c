"""`podium apiserver` in a process of its own, and what it costs the machine.

The bench room does not know the server from the inside: it starts the command that users start, and
reads processor time and memory from where the kernel tells them.
"""

import base64
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from podium.bench import process_cost
from podium.net.tls import client_context


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
                yield _found(kubeconfig, process.pid)
            finally:
                process.terminate()


def _found(kubeconfig: Path, process: int) -> ServedApi:
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
