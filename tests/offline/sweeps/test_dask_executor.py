"""Runs on Dask: the same results, workers that die, clusters that are not what they should be."""

import gc
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.offline.sweeps.toy_runs import Squared, Toy, plan_squares, read_log
from support.suite.late_imports import LateImport
from support.suite.requirements import SEMAPHORES

from podium.golang.errors import InputError
from podium.offline.sweeps import dask_executor
from podium.offline.sweeps.dask_executor import DaskAddress, DaskExecutor, make_run_on_worker
from podium.offline.sweeps.execution import FailedRun, FinishedRun, execute_sweep
from podium.offline.sweeps.executors import find_obstacle

distributed = LateImport("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as it:
        yield it


def executor(cluster: Any, **settings: float) -> DaskExecutor:
    return DaskExecutor(DaskAddress(cluster.scheduler_address), **settings)


def test_workers_give_what_this_process_gives_in_the_planned_order(
    cluster: Any, tmp_path: Path
) -> None:
    toy = Toy(tmp_path / "log", fails=frozenset({3}))
    ended = list(execute_sweep(plan_squares(toy, 9), executor(cluster)))
    assert [each.run.arguments for each in ended] == list(range(9))
    assert [each.result for each in ended if isinstance(each, FinishedRun)] == [
        Squared(number, number * number) for number in range(9) if number != 3
    ]
    (failed,) = (each for each in ended if isinstance(each, FailedRun))
    assert "3 is odd" in str(failed)
    assert sorted(read_log(toy.log)) == list(range(9))


def test_a_scheduler_is_found_by_its_file(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": cluster.scheduler_address, "workers": {}}))
    sweep = plan_squares(Toy(tmp_path / "log"), 2)
    ended = list(execute_sweep(sweep, DaskExecutor(DaskAddress(f"file:{file}"))))
    assert all(isinstance(each, FinishedRun) for each in ended)


def test_a_worker_with_another_version_is_told_before_anything_runs(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "__version__", "99.0")
    toy = Toy(tmp_path / "log")
    with pytest.raises(InputError, match=r"has Podium .*, this is 99\.0; install the same version"):
        list(execute_sweep(plan_squares(toy, 2), executor(cluster)))
    assert read_log(toy.log) == []


def test_a_worker_without_podium_is_told(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve_nothing(_: str) -> None:
        raise ModuleNotFoundError("No module named 'podium'")

    monkeypatch.setattr(dask_executor, "resolve_name", resolve_nothing)
    with pytest.raises(InputError, match=r"has no Podium: .*; install podium .* where it runs"):
        list(execute_sweep(plan_squares(Toy(tmp_path / "log"), 2), executor(cluster)))


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
def test_a_worker_that_joins_later_with_another_version_makes_no_run() -> None:
    outcome = make_run_on_worker("99.0", "name", b"never read", 1)
    assert isinstance(outcome, InputError)
    assert "this is 99.0" in str(outcome)


def test_a_machine_without_semaphores_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("multiprocessing.context.BaseContext.Lock", refuse)
    wanted = plan_squares(Toy(tmp_path / "log"), 2)
    with pytest.raises(InputError, match=r"no Dask workers on this machine: .*/dev/shm"):
        list(execute_sweep(wanted, DaskExecutor(DaskAddress("local:1"))))


@SEMAPHORES.skip_unless(find_obstacle() is None)
def test_nobody_else_can_have_a_local_cluster_run_code(tmp_path: Path) -> None:
    """Neither without TLS nor with certificates of their own; at the scheduler and its workers."""
    with DaskExecutor(DaskAddress("local:1")).start(plan_squares(Toy(tmp_path / "log"), 1)) as own:
        client = own._client  # type: ignore[attr-defined]
        addresses = [client.scheduler.address, *client.scheduler_info()["workers"]]
        assert len(addresses) == 2
        for address in addresses:
            assert address.startswith("tls://127.0.0.1:")
            plain = address.replace("tls://", "tcp://")
            for target, security in ((plain, None), (address, distributed.Security.temporary())):
                with pytest.raises((OSError, TypeError, ValueError)):
                    distributed.Client(target, timeout=5, security=security, set_as_default=False)
    gc.collect()  # sockets that Dask leaves behind a refused connection


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.slow
@SEMAPHORES.skip_unless(find_obstacle() is None)
def test_runs_of_a_worker_that_dies_are_made_again(tmp_path: Path) -> None:
    toy = Toy(tmp_path / "log", kills_once=frozenset({1}))
    ended = list(execute_sweep(plan_squares(toy, 4), DaskExecutor(DaskAddress("local:1"))))
    assert [each.result.square for each in ended if isinstance(each, FinishedRun)] == [0, 1, 4, 9]
    assert read_log(toy.log).count(1) == 2


def test_a_scheduler_without_workers_is_told(tmp_path: Path) -> None:
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address="127.0.0.1:0"
    ) as empty:
        wanted = plan_squares(Toy(tmp_path / "log"), 2)
        with pytest.raises(InputError, match=r"has had no workers for 0\.1 s; with --resume"):
            list(execute_sweep(wanted, executor(empty, no_workers_s=0.1)))


def test_an_address_where_nobody_answers_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECT_S", 0.5)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and does not listen
        address = f"tcp://127.0.0.1:{bound.getsockname()[1]}"
        wanted = plan_squares(Toy(tmp_path / "log"), 2)
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}"):
            list(execute_sweep(wanted, DaskExecutor(DaskAddress(address))))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (DaskAddress("localhost"), "no address"),
        (DaskAddress("local:0"), "no address"),
        (DaskAddress("local:many"), "no address"),
        (DaskAddress("tls://host:8786"), "needs certificates"),
        (DaskAddress("tcp://host:8786", "ca.pem", "cert.pem", "key.pem"), "--dask tls://"),
        (DaskAddress("tls://host:8786", "ca.pem"), "all three"),
        (DaskAddress("tls://host:8786", "no.pem", "no.pem", "no.pem"), "no.pem: cannot be read"),
        (DaskAddress("file:no.json"), "no.json: cannot be read"),
        (DaskAddress(f"file:{__file__}"), "is not the file of a Dask scheduler"),
    ],
)
def test_an_address_that_is_none_is_refused(address: DaskAddress, told: str) -> None:
    with pytest.raises(InputError, match=told):
        DaskExecutor(address)


def test_without_dask_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_executor, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'podium\[sweeps\]'"):
        DaskExecutor(DaskAddress("local:1"))


def test_a_scheduler_is_spoken_to_encrypted_by_who_has_a_certificate_of_its_ca(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECT_S", 2.0)
    ours, theirs = (write_certificates(tmp_path / name) for name in ("ours", "theirs"))
    files = dict(zip(("tls_ca_file", "tls_scheduler_cert", "tls_scheduler_key"), ours, strict=True))
    security = distributed.Security(
        **files,
        tls_worker_cert=ours[1],
        tls_worker_key=ours[2],
        tls_client_cert=ours[1],
        tls_client_key=ours[2],
        require_encryption=True,
    )
    settings: dict[str, Any] = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(
        n_workers=1, protocol="tls://", security=security, **settings
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        wanted = plan_squares(Toy(tmp_path / "log"), 3)
        ended = list(execute_sweep(wanted, DaskExecutor(DaskAddress(address, *ours))))
        assert [each.result.square for each in ended if isinstance(each, FinishedRun)] == [0, 1, 4]
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            list(execute_sweep(wanted, DaskExecutor(DaskAddress(address, *theirs))))


def write_certificates(directory: Path) -> tuple[str, str, str]:
    """The CA, a certificate and its key."""
    directory.mkdir()
    ca, leaf = directory / "ca.pem", directory / "leaf.pem"
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(str(ca))
    issued.cert_chain_pems[0].write_to_path(str(leaf))
    key = directory / "key.pem"
    issued.private_key_pem.write_to_path(str(key))
    return str(ca), str(leaf), str(key)
