"""Runs on Dask: the same results, workers that die, clusters that are not what they should be."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster
from support.sweeps.toy_runs import Squared, Toy, plan_squares, read_log

from podium.api.errors import InputError
from podium.sweeps import dask_executor
from podium.sweeps.dask_executor import DaskAddress, DaskExecutor, make_run_on_worker
from podium.sweeps.execution import FailedRun, FinishedRun, execute_sweep


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with LocalCluster(
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


def test_a_worker_that_joins_later_with_another_version_makes_no_run() -> None:
    outcome = make_run_on_worker("99.0", "name", b"never read", 1)
    assert isinstance(outcome, InputError)
    assert "this is 99.0" in str(outcome)


@pytest.mark.slow
def test_runs_of_a_worker_that_dies_are_made_again(tmp_path: Path) -> None:
    toy = Toy(tmp_path / "log", kills_once=frozenset({1}))
    ended = list(execute_sweep(plan_squares(toy, 4), DaskExecutor(DaskAddress("local:1"))))
    assert [each.result.square for each in ended if isinstance(each, FinishedRun)] == [0, 1, 4, 9]
    assert read_log(toy.log).count(1) == 2


def test_a_scheduler_without_workers_is_told(tmp_path: Path) -> None:
    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as empty:
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
    ],
)
def test_an_address_that_is_none_is_refused(address: DaskAddress, told: str) -> None:
    with pytest.raises(InputError, match=told):
        DaskExecutor(address)


def test_without_dask_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_executor, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'podium\[sweeps\]'"):
        DaskExecutor(DaskAddress("local:1"))
