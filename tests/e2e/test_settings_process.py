"""What a configuration file says of a scheduler that runs: its server, its lease, its pages."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import yaml
from support.apiserver.apiserver_process import RunningServer, serving
from support.e2e.scheduler_process import SchedulerProcess, running_scheduler
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.slow

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
SYNCED = "/readyz/sched-handler-sync"
LEASE_OF_ANOTHER = {
    "metadata": {"name": "kube-scheduler"},
    "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@contextmanager
def configured(
    server: RunningServer, directory: Path, *flags: str, **fields: Any
) -> Iterator[SchedulerProcess]:
    """A scheduler that finds its server through a file with these fields."""
    file = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(server.kubeconfig)},
        **fields,
    }
    (directory / "scheduler.yaml").write_text(yaml.safe_dump(file))
    with running_scheduler(directory, "--config", "scheduler.yaml", *flags) as process:
        yield process


class Pages:
    """The pages of a scheduler, open to everybody; its certificate is its own."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.flags = (
            f"--secure-port={self._port}",
            "--bind-address=127.0.0.1",
            "--authorization-always-allow-paths=/*",
        )
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE

    def status(self, path: str, method: str = "GET", body: bytes | None = None) -> int:
        """0 while nobody listens."""
        request = Request(f"https://127.0.0.1:{self._port}{path}", body, method=method)
        try:
            with urlopen(request, timeout=PATIENCE_S, context=self._context) as answer:
                return int(answer.status)
        except HTTPError as refused:
            with refused:
                return refused.code
        except URLError:
            return 0


def test_the_server_and_the_lease_are_those_that_the_file_names(
    server: RunningServer, tmp_path: Path
) -> None:
    election = {"resourceNamespace": "default", "resourceName": "mine", "leaseDuration": "33s"}
    path = f"{LEASES.format('default')}/mine"
    with configured(server, tmp_path, "--secure-port=0", leaderElection=election) as process:
        wait_until(lambda: server.ask("GET", path)[0] == 200)
        assert server.ask("GET", path)[1]["spec"]["leaseDurationSeconds"] == 33
        assert process.stopped() == 0


def test_no_lease_is_taken_where_nobody_is_to_be_elected(
    server: RunningServer, tmp_path: Path
) -> None:
    pages = Pages()
    election = {"leaderElect": False, "resourceName": "nobodys"}
    with configured(server, tmp_path, *pages.flags, leaderElection=election) as process:
        wait_until(lambda: pages.status(SYNCED) == 200)
        assert server.ask("GET", f"{LEASES.format('kube-system')}/nobodys")[0] == 404
        assert process.stopped() == 0


@pytest.mark.parametrize("delays", [False, True])
def test_a_standby_follows_the_cluster_unless_its_cache_is_delayed(
    server: RunningServer, tmp_path: Path, delays: bool
) -> None:
    leases = LEASES.format("kube-system")
    assert server.ask("POST", leases, LEASE_OF_ANOTHER)[0] == 201
    pages = Pages()
    fields = {"leaderElection": {"retryPeriod": "100ms"}, "delayCacheUntilActive": delays}
    with configured(server, tmp_path, *pages.flags, **fields) as process:
        wait_until(lambda: "Attempting to acquire" in process.said)
        if delays:
            assert wait_until(lambda: pages.status(SYNCED)) == 500
        else:
            wait_until(lambda: pages.status(SYNCED) == 200)
        assert server.ask("DELETE", f"{leases}/kube-scheduler")[0] == 200
        wait_until(lambda: "Successfully acquired lease" in process.said)
        wait_until(lambda: pages.status(SYNCED) == 200)
        assert process.stopped() == 0
    assert server.ask("DELETE", f"{leases}/kube-scheduler")[0] == 200


@pytest.mark.parametrize(("profiling", "answer"), [(True, 200), (False, 404)])
def test_verbosity_can_be_set_only_where_profiling_is_on(
    server: RunningServer, tmp_path: Path, profiling: bool, answer: int
) -> None:
    pages = Pages()
    fields = {"leaderElection": {"leaderElect": False}, "enableProfiling": profiling}
    with configured(server, tmp_path, *pages.flags, **fields) as process:
        wait_until(lambda: pages.status(SYNCED) == 200)
        assert pages.status("/debug/flags/v", "PUT", b"3") == answer
        assert process.stopped() == 0
