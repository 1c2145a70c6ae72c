"""Making the runs of a sweep: those that have no result yet, wherever the executor makes them.

Results arrive in any order and are given back in the planned one. No more are waited for than
`MAX_AHEAD` beyond the next to be given back, so that memory is bounded however slow one run is.
Whatever ends is kept at once, if there is a store for it: an interrupted sweep loses only what
was under way.

Results that are kept: a directory with a small file for each run that has ended. A file is named
after its run's key and holds the result as JSON, with a digest of it in front. It is written beside
its place and moved there when it is whole; what was cut off all the same, or was changed, has
another digest and counts as none. Runs with other input have other keys, so that one directory may
serve many sweeps.
"""

import dataclasses
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from podium.golang.errors import InputError, PodiumError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_file
from podium.offline.sweeps.executors import Executor, Outcome, PlannedRun, Sweep

MAX_AHEAD: Final = 64
"""Results that wait for an earlier one, at least; executors with many workers have twice these."""

R = TypeVar("R")


class ResultStore(Protocol):
    """Where results are kept, encoded, by the keys of their runs. `ResultDirectory` is one."""

    def read(self, key: str) -> bytes | None: ...

    def write(self, key: str, result: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class FinishedRun(Generic[R]):
    run: PlannedRun
    result: R


@dataclass(frozen=True, slots=True)
class FailedRun:
    run: PlannedRun
    error: Exception

    def __str__(self) -> str:
        told = str(self.error) or type(self.error).__name__
        if not isinstance(self.error, PodiumError):
            told = f"{type(self.error).__name__}: {told}"
        return f"run {self.run.key[:16]} ({self.run.name}) failed: {told}"


class RunsFailed(PodiumError):
    """Some runs of a sweep failed; all others have ended and are kept where results are kept."""

    def __init__(self, failed: list[FailedRun], runs: int) -> None:
        super().__init__(f"{len(failed)} of {runs} runs failed")
        self.failed = failed


def execute_sweep(
    sweep: Sweep[R],
    executor: Executor,
    store: ResultStore | None = None,
    on_ended: Callable[[int], None] = lambda _: None,
) -> Iterator[FinishedRun[R] | FailedRun]:
    """All runs in the planned order. `on_ended` is notified of runs as they end, how many at a
    time: first of those whose results are there already."""
    kept = _find_kept(sweep, store)
    missing = [number for number in range(len(sweep.runs)) if number not in kept]
    if kept:
        on_ended(len(kept))
    if not missing:
        for number in range(len(sweep.runs)):
            yield _end_kept(sweep, number, store)
        return
    wanted = dataclasses.replace(sweep, runs=tuple(sweep.runs[number] for number in missing))
    with executor.start(wanted) as session:
        ahead = max(MAX_AHEAD, 2 * session.capacity)
        ended: dict[int, Outcome] = {}
        sent = under_way = given = 0
        for number in range(len(sweep.runs)):
            if number in kept:
                yield _end_kept(sweep, number, store)
                continue
            while given not in ended:
                while (
                    sent < len(missing)
                    and under_way < session.capacity
                    and under_way + len(ended) < ahead
                ):
                    session.submit(sent)
                    sent += 1
                    under_way += 1
                position, outcome = session.take()
                under_way -= 1
                ended[position] = outcome
                if store is not None and isinstance(outcome, bytes):
                    store.write(wanted.runs[position].key, outcome)
                on_ended(1)
            yield _end(sweep, number, ended.pop(given))
            given += 1


def collect_finished(
    ended: Iterator[FinishedRun[R] | FailedRun],
) -> Iterator[FinishedRun[R]]:
    """Those that finished; raises RunsFailed at the end if others did not."""
    failed = []
    runs = 0
    for each in ended:
        runs += 1
        if isinstance(each, FailedRun):
            failed.append(each)
        else:
            yield each
    if failed:
        raise RunsFailed(failed, runs)


def _find_kept(sweep: Sweep[R], store: ResultStore | None) -> frozenset[int]:
    if store is None:
        return frozenset()
    found = set()
    for number, run in enumerate(sweep.runs):
        encoded = store.read(run.key)
        if encoded is not None and _is_decodable(encoded, sweep):
            found.add(number)
    return frozenset(found)


def _is_decodable(encoded: bytes, sweep: Sweep[R]) -> bool:
    try:
        msgspec.json.decode(encoded, type=sweep.result)
    except msgspec.DecodeError:
        return False
    return True


def _end_kept(
    sweep: Sweep[R], number: int, store: ResultStore | None
) -> FinishedRun[R] | FailedRun:
    run = sweep.runs[number]
    encoded = store.read(run.key) if store is not None else None
    if encoded is None:
        return FailedRun(run, PodiumError("its result was there and is gone"))
    return _end(sweep, number, encoded)


def _end(sweep: Sweep[R], number: int, outcome: Outcome) -> FinishedRun[R] | FailedRun:
    run = sweep.runs[number]
    if isinstance(outcome, bytes):
        return FinishedRun(run, msgspec.json.decode(outcome, type=sweep.result))
    return FailedRun(run, outcome)


SUFFIX: Final = ".run.json"


class ResultDirectory:
    """Raises InputError if the directory cannot be made, read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise _make_error("used", path, problem) from None

    def read(self, key: str) -> bytes | None:
        """The result with this key, if there is a whole one."""
        path = self._place(key)
        try:
            digest, _, result = read_file(path, MAX_CLUSTER_BYTES).partition(b"\n")
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _make_error("read", path, problem) from None
        return result if digest == _digest(result) else None

    def write(self, key: str, result: bytes) -> None:
        path = self._place(key)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            try:
                beside.write_bytes(_digest(result) + b"\n" + result)
                os.replace(beside, path)
            except BaseException:
                with suppress(OSError):
                    beside.unlink()
                raise
        except OSError as problem:
            raise _make_error("written", path, problem) from None

    def _place(self, key: str) -> Path:
        return self.path / f"{key}{SUFFIX}"


def _digest(result: bytes) -> bytes:
    return sha256(result).hexdigest().encode()


def _make_error(what: str, path: Path, problem: OSError) -> InputError:
    reason = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be {what}: {reason}", source=str(path))
