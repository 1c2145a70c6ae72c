"""Where runs are made: in this process, or in processes of this machine.

An executor starts a session for a sweep. A session takes runs by their number, up to its capacity,
and gives back what has become of them in any order: the result, encoded, or the error. Results are
encoded where they are made, in the form in which they are kept, so that no way to the caller can
change them.

Contract: an error of one run is an outcome, not an exception. A worker process that dies takes no
other run along: those it may have been at are made again one by one, so that a run that kills its
worker is found out, and given up after `MAX_ATTEMPTS`.

Runs as values: what is to be done, with what, and a key that stands for all of it. A key is a
digest of everything that a run's result depends on, Podium's version included. Two runs with one
key have one result, whenever and wherever they are made, and a run with other input has another
key.

Contract: `prepare`, `shared` and `arguments` can be pickled, and `prepare` is a name of a module,
since workers import it. Results are what msgspec can write as JSON and read again as `result`.
"""

import logging
import os
import pickle
import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import active_children, get_context
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

from podium import __version__
from podium.golang.errors import PodiumError

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """`name` is for people; `arguments` are what `prepare`'s function is called with."""

    key: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Sweep(Generic[R]):
    """A worker calls `prepare(shared)` once, and what that gives once for each run."""

    prepare: Callable[[Any], Callable[[Any], R]]
    shared: Any
    result: type[R]
    runs: tuple[PlannedRun, ...]


def digest_values(*values: object) -> str:
    """The same for equal values in every process. What msgspec cannot write stands by its repr."""
    written = msgspec.json.encode((__version__, values), order="deterministic", enc_hook=repr)
    return sha256(written).hexdigest()


MAX_ATTEMPTS: Final = 3
"""Of a run whose worker dies."""
_LOG: Final = logging.getLogger("podium.offline.sweeps")

Outcome = bytes | Exception


class WorkerDied(PodiumError):
    """A run took its worker along, again and again."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"the worker process died {attempts} times (out of memory?)")


class RunError(Exception):
    """Stands for an error of a run that cannot be sent between processes."""


class Session(Protocol):
    """Runs of one sweep. `capacity` is how many it wants at once."""

    @property
    def capacity(self) -> int: ...

    def submit(self, number: int) -> None: ...

    def take(self) -> tuple[int, Outcome]:
        """The next that has ended; waits for it. Something must have been submitted."""
        ...


class Executor(Protocol):
    def start(self, sweep: Sweep[Any]) -> AbstractContextManager[Session]: ...


def make_run(function: Callable[[Any], object], arguments: object) -> Outcome:
    """One run, its result encoded."""
    try:
        return msgspec.json.encode(function(arguments))
    except Exception as problem:
        return problem


def make_sendable(outcome: Outcome) -> Outcome:
    """An error in a form that arrives in another process, with its traceback as a note."""
    if isinstance(outcome, bytes):
        return outcome
    outcome.add_note("".join(traceback.format_exception(outcome)))
    try:
        pickle.loads(pickle.dumps(outcome))
    except Exception:
        return RunError("".join(traceback.format_exception_only(outcome)).strip())
    return outcome


# --- this process -------------------------------------------------------------------------------


class ThisProcess:
    @contextmanager
    def start(self, sweep: Sweep[Any]) -> Iterator[Session]:
        yield _InlineSession(sweep)


class _InlineSession:
    capacity = 1

    def __init__(self, sweep: Sweep[Any]) -> None:
        self._sweep = sweep
        self._function: Callable[[Any], Any] | None = None
        self._waiting: deque[int] = deque()

    def submit(self, number: int) -> None:
        self._waiting.append(number)

    def take(self) -> tuple[int, Outcome]:
        number = self._waiting.popleft()
        if self._function is None:
            self._function = self._sweep.prepare(self._sweep.shared)
        return number, make_run(self._function, self._sweep.runs[number].arguments)


# --- processes of this machine ------------------------------------------------------------------


class LocalProcesses:
    """`jobs` of them, 0 for one a core."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs or count_cores()

    @contextmanager
    def start(self, sweep: Sweep[Any]) -> Iterator[Session]:
        workers = min(self.jobs, len(sweep.runs))
        problem = find_obstacle() if workers > 1 else None
        if problem is not None:
            _LOG.warning("the runs are made one after the other, in this process: %s", problem)
        if workers <= 1 or problem is not None:
            yield _InlineSession(sweep)
            return
        before = {*active_children()}
        session = _PoolSession(sweep, workers)
        try:
            yield session
        except BaseException:
            # Nobody waits for runs that are under way.
            for child in {*active_children()} - before:
                child.terminate()
            raise
        finally:
            session.close()


class _PoolSession:
    def __init__(self, sweep: Sweep[Any], workers: int) -> None:
        self._sweep = sweep
        self._workers = workers
        self.capacity = 2 * workers
        self._running: dict[Future[Outcome], int] = {}
        self._suspects: deque[int] = deque()
        """Runs that were under way when a worker died; made again one at a time."""
        self._deaths: Counter[int] = Counter()
        self._pool = self._make_pool()

    def submit(self, number: int) -> None:
        if self._suspects:
            self._suspects.append(number)
        else:
            self._send(number)

    def take(self) -> tuple[int, Outcome]:
        while True:
            if self._suspects and not self._running:
                self._send(self._suspects.popleft())
            done = wait(self._running, return_when=FIRST_COMPLETED).done
            # In the order in which they were submitted, for what fails all at once.
            future = next(each for each in self._running if each in done)
            number = self._running.pop(future)
            try:
                return number, future.result()
            except BrokenProcessPool:
                if (outcome := self._recover(number)) is not None:
                    return outcome

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _send(self, number: int) -> None:
        arguments = self._sweep.runs[number].arguments
        try:
            future = self._pool.submit(_make_run_here, arguments)
        except BrokenProcessPool:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = self._make_pool()
            future = self._pool.submit(_make_run_here, arguments)
        self._running[future] = number

    def _recover(self, number: int) -> tuple[int, Outcome] | None:
        """A new pool; the run that was alone when its worker died has its death counted."""
        alone = not self._running
        unsent = [number, *self._running.values()]
        self._running.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._make_pool()
        if alone:
            self._deaths[number] += 1
            if self._deaths[number] >= MAX_ATTEMPTS:
                return number, WorkerDied(MAX_ATTEMPTS)
        self._suspects.extendleft(reversed(unsent))
        return None

    def _make_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._workers,
            get_context("spawn"),
            initializer=_begin,
            initargs=(pickle.dumps((self._sweep.prepare, self._sweep.shared)),),
        )


_prepared: Callable[[Any], Any] | None = None
"""Of a process that takes part."""


def _begin(payload: bytes) -> None:
    global _prepared  # noqa: PLW0603
    # Ctrl-C reaches every process of a terminal; the one that was started by hand decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare, shared = pickle.loads(payload)
    _prepared = prepare(shared)


def _make_run_here(arguments: object) -> Outcome:
    if _prepared is None:
        raise AssertionError("a process that takes part is prepared first")
    return make_sendable(make_run(_prepared, arguments))


def find_obstacle() -> str | None:
    """Why no processes can be had beside this one: a system may have no semaphores, as a bare
    container without a writable /dev/shm."""
    try:
        get_context("spawn").Lock()
    except (ImportError, OSError) as problem:
        return f"the system gives no semaphores ({problem}); is /dev/shm there and writable?"
    return None


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
