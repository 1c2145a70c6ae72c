"""Runs are given back in their order, kept when they end, and do not take others along."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.offline.sweeps.toy_runs import Squared, Toy, plan_squares, prepare_squares, read_log
from support.suite.requirements import SEMAPHORES

from podium.offline.sweeps.execution import (
    MAX_AHEAD,
    SUFFIX,
    FailedRun,
    FinishedRun,
    ResultDirectory,
    RunsFailed,
    collect_finished,
    execute_sweep,
)
from podium.offline.sweeps.executors import (
    MAX_ATTEMPTS,
    LocalProcesses,
    Outcome,
    Session,
    Sweep,
    ThisProcess,
    WorkerDied,
    digest_values,
    find_obstacle,
    make_run,
)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "log")


class BackwardsExecutor:
    """Ends what was submitted last first, and counts how much was waited for."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.max_under_way = 0

    @contextmanager
    def start(self, sweep: Sweep[Any]) -> Iterator[Session]:
        yield _BackwardsSession(self, sweep)


class _BackwardsSession:
    def __init__(self, executor: BackwardsExecutor, sweep: Sweep[Any]) -> None:
        self._executor = executor
        self._sweep = sweep
        self._waiting: list[int] = []
        self.capacity = executor.capacity

    def submit(self, number: int) -> None:
        self._waiting.append(number)
        self._executor.max_under_way = max(self._executor.max_under_way, len(self._waiting))

    def take(self) -> tuple[int, Outcome]:
        number = self._waiting.pop()
        run = make_run(self._sweep.prepare(self._sweep.shared), self._sweep.runs[number].arguments)
        return number, run


def squares(ended: Iterator[FinishedRun[Squared] | FailedRun]) -> list[int]:
    return [int(each.result.square) for each in collect_finished(ended)]


def test_results_come_in_the_planned_order_whatever_ends_first(toy: Toy) -> None:
    executor = BackwardsExecutor(5)
    found = squares(execute_sweep(plan_squares(toy, 12), executor))
    assert found == [number * number for number in range(12)]
    assert read_log(toy.log) != sorted(read_log(toy.log))
    assert executor.max_under_way == 5


def test_no_more_results_wait_for_a_slow_run_than_memory_should_hold(toy: Toy) -> None:
    many = 3 * MAX_AHEAD
    ended = execute_sweep(plan_squares(toy, many), BackwardsExecutor(2))
    next(ended)
    assert len(read_log(toy.log)) <= MAX_AHEAD + 2


def test_a_run_that_fails_is_told_with_its_key_after_all_others(toy: Toy) -> None:
    sweep = plan_squares(Toy(toy.log, fails=frozenset({1})), 4)
    finished = []
    with pytest.raises(RunsFailed) as told:
        finished += [each.result.number for each in _each(sweep)]
    assert read_log(toy.log) == [0, 1, 2, 3]
    (failed,) = told.value.failed
    assert str(failed) == f"run {sweep.runs[1].key[:16]} (square of 1) failed: OddError: 1 is odd"
    assert str(told.value) == "1 of 4 runs failed"


def _each(sweep: Sweep[Squared]) -> Iterator[FinishedRun[Squared]]:
    return collect_finished(execute_sweep(sweep, ThisProcess()))


# --- results that are kept --------------------------------------------------------------------


def test_an_interrupted_sweep_goes_on_with_what_is_missing(toy: Toy, tmp_path: Path) -> None:
    directory = ResultDirectory(tmp_path / "kept")
    interrupted = execute_sweep(plan_squares(toy, 6), ThisProcess(), directory)
    for _ in range(3):
        next(interrupted)
    del interrupted
    toy.log.unlink()

    told: list[int] = []
    found = squares(execute_sweep(plan_squares(toy, 6), ThisProcess(), directory, told.append))
    assert found == [0, 1, 4, 9, 16, 25]
    assert read_log(toy.log) == [3, 4, 5]
    assert told == [3, 1, 1, 1]

    toy.log.unlink()
    assert squares(execute_sweep(plan_squares(toy, 6), ThisProcess(), directory)) == found
    assert read_log(toy.log) == []


def test_a_run_that_failed_is_made_again(toy: Toy, tmp_path: Path) -> None:
    directory = ResultDirectory(tmp_path / "kept")
    failing = plan_squares(Toy(toy.log, fails=frozenset({2})), 4)
    with pytest.raises(RunsFailed):
        squares(execute_sweep(failing, ThisProcess(), directory))
    toy.log.unlink()
    squares(execute_sweep(plan_squares(toy, 4), ThisProcess(), directory))
    assert read_log(toy.log) == [2]


def test_other_input_makes_other_runs(toy: Toy, tmp_path: Path) -> None:
    directory = ResultDirectory(tmp_path / "kept")
    for salt in ("", "changed"):
        squares(execute_sweep(plan_squares(toy, 2, salt), ThisProcess(), directory))
    assert read_log(toy.log) == [0, 1, 0, 1]


def test_files_that_are_not_whole_count_as_none(toy: Toy, tmp_path: Path) -> None:
    directory = ResultDirectory(tmp_path / "kept")
    sweep = plan_squares(toy, 4)
    squares(execute_sweep(sweep, ThisProcess(), directory))
    cut, changed, empty, _ = (directory.path / f"{run.key}{SUFFIX}" for run in sweep.runs)
    cut.write_bytes(cut.read_bytes()[:-1])
    changed.write_bytes(changed.read_bytes().replace(b'"square":1', b'"square":7'))
    empty.write_bytes(b"")
    (directory.path / f".{sweep.runs[3].key}{SUFFIX}.left").write_bytes(b"half")
    toy.log.unlink()

    assert squares(execute_sweep(sweep, ThisProcess(), directory)) == [0, 1, 4, 9]
    assert read_log(toy.log) == [0, 1, 2]


def test_a_whole_number_and_a_fraction_stay_what_they_are(tmp_path: Path) -> None:
    directory = ResultDirectory(tmp_path / "kept")
    sweep = Sweep(_halve, None, Squared, plan_squares(Toy(tmp_path / "log"), 3).runs)
    first = [each.result for each in collect_finished(execute_sweep(sweep, ThisProcess()))]
    for _ in range(2):
        ended = collect_finished(execute_sweep(sweep, ThisProcess(), directory))
        assert [repr(each.result) for each in ended] == list(map(repr, first))
    assert {type(each.square) for each in first} == {int, float}


def _halve(_: None) -> Any:
    return lambda number: Squared(number, number / 2 if number % 2 else number // 2)


def test_keys_differ_where_values_do() -> None:
    assert digest_values("a", 1) == digest_values("a", 1)
    keys = {digest_values(*each) for each in (("a", 1), ("a", "1"), ("a1",), (("a",), 1), ("a",))}
    assert len(keys) == 5


# --- processes --------------------------------------------------------------------------------


def test_runs_are_made_in_this_process_where_the_system_has_no_semaphores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("multiprocessing.context.BaseContext.Lock", refuse)
    toy = Toy(tmp_path / "log")

    assert squares(execute_sweep(plan_squares(toy, 3), LocalProcesses(2))) == [0, 1, 4]
    assert "one after the other" in caplog.text
    assert "/dev/shm" in caplog.text


@SEMAPHORES.skip_unless(find_obstacle() is None)
def test_processes_give_the_same_and_lose_nothing_when_one_dies(tmp_path: Path) -> None:
    toy = Toy(
        tmp_path / "log",
        fails=frozenset({5}),
        kills=frozenset({2}),
        kills_once=frozenset({4}),
    )
    ended = list(execute_sweep(plan_squares(toy, 7), LocalProcesses(2)))
    finished = {each.result.square for each in ended if isinstance(each, FinishedRun)}
    died, raised = (each for each in ended if isinstance(each, FailedRun))
    assert finished == {0, 1, 9, 16, 36}
    assert died.run.arguments == 2
    assert isinstance(died.error, WorkerDied)
    # The first time it was not alone, and any of those under way might have been it.
    assert MAX_ATTEMPTS <= read_log(toy.log).count(2) <= MAX_ATTEMPTS + 2
    # Its class cannot be made again in another process.
    assert "OddError: 5 is odd" in str(raised)


def test_one_run_starts_no_process(toy: Toy) -> None:
    assert squares(execute_sweep(plan_squares(toy, 1), LocalProcesses(8))) == [0]
    assert prepare_squares(toy)(3) == Squared(3, 9)
