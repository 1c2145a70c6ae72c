"""Runs on the workers of a Dask cluster: one that runs, or one on this machine for trying it out.

Workers must have this version of Podium, which is checked before anything is sent. What all runs
share is sent to every worker once, and prepared there once. A worker makes one run at a time,
however many threads it has: runs are Python, and some of what they use belongs to the process.

Contract: a run whose worker dies is made again elsewhere, up to `MAX_ATTEMPTS` times, as with
processes of this machine. A scheduler that cannot be reached, that has no workers or
that goes away is an InputError, in bounded time. Dask sends pickles: whoever can speak to its
scheduler can run code on its workers and here (docs/sweeps.md). So a cluster on this machine speaks
TLS with a key pair of its own for each sweep, which never leaves the processes: other users of
the machine can reach its ports and nothing behind them.
"""

import pickle
import queue
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.util import find_spec
from itertools import count
from pkgutil import resolve_name
from typing import Any, Final, NoReturn

import msgspec

from podium import __version__
from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_input
from podium.offline.sweeps.executors import (
    MAX_ATTEMPTS,
    Outcome,
    Session,
    Sweep,
    WorkerDied,
    count_cores,
    find_obstacle,
    make_run,
    make_sendable,
)

CONNECT_S: Final = 10.0
NO_WORKERS_S: Final = 30.0
"""How long a scheduler may be without workers."""
_LOOK_S: Final = 2.0
"""Between two looks at whether there still are workers."""
_LOCAL: Final = "local"
_FILE: Final = "file:"
_FORMS: Final = "tcp://HOST:8786, tls://HOST:8786, file:SCHEDULER.json or local:2"
_ENCRYPTED: Final = ("tls://", "wss://")


@dataclass(frozen=True, slots=True)
class DaskAddress:
    """Where the scheduler is; `tls_*` are PEM files by which both sides know each other."""

    address: str
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""


class DaskExecutor:
    """Raises InputError for an address that is none, and if Dask is not installed."""

    def __init__(self, where: DaskAddress, no_workers_s: float = NO_WORKERS_S) -> None:
        if find_spec("distributed") is None:
            raise InputError("dask is not installed", remedy="pip install 'podium[sweeps]'")
        self._local_workers = _parse_local(where.address)
        self._where = where = replace(where, address=_find_scheduler(where.address))
        self._no_workers_s = no_workers_s
        files = (where.tls_ca, where.tls_cert, where.tls_key)
        is_encrypted = where.address.startswith(_ENCRYPTED)
        if any(files) and not (all(files) and is_encrypted):
            raise InputError(
                "encrypted connections need all three of a CA, a certificate and a key",
                remedy="--dask tls://HOST:8786 with --dask-tls-ca, --dask-tls-cert, --dask-tls-key",
            )
        if is_encrypted and not all(files):
            raise InputError(
                f"{where.address} needs certificates",
                remedy="--dask-tls-ca, --dask-tls-cert and --dask-tls-key",
            )
        for file in filter(None, files):
            read_input(file)

    @contextmanager
    def start(self, sweep: Sweep[Any]) -> Iterator[Session]:
        with ExitStack() as stack:
            client = self._connect(stack)
            _require_workers(client, self._where.address, self._no_workers_s)
            _require_version(client)
            yield _DaskSession(client, sweep, self._where.address, self._no_workers_s)

    def _connect(self, stack: ExitStack) -> Any:
        from distributed import Client, LocalCluster
        from distributed.security import Security

        where = self._where
        if self._local_workers:
            if (obstacle := find_obstacle()) is not None:
                raise InputError(
                    f"there can be no Dask workers on this machine: {obstacle}",
                    remedy="leave --dask out, and runs are made one after the other",
                )
            cluster = LocalCluster(
                n_workers=self._local_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                security=Security.temporary(),
                silence_logs=50,
            )
            stack.enter_context(cluster)
            target: dict[str, Any] = {"address": cluster}
        else:
            target = {"address": where.address}
        if where.tls_ca:
            target["security"] = Security(
                tls_ca_file=where.tls_ca,
                tls_client_cert=where.tls_cert,
                tls_client_key=where.tls_key,
                require_encryption=True,
            )
        try:
            client = Client(**target, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as problem:
            reason = str(problem).partition("\n")[0] or type(problem).__name__
            raise InputError(
                f"no Dask scheduler answers at {where.address}: {reason}",
                remedy=f"give {_FORMS}",
            ) from None
        return stack.enter_context(client)


class _DaskSession:
    def __init__(self, client: Any, sweep: Sweep[Any], address: str, no_workers_s: float) -> None:
        self._client = client
        self._sweep = sweep
        self._address = address
        self._no_workers_s = no_workers_s
        self._payload = pickle.dumps((sweep.prepare, sweep.shared))
        self._name = sha256(self._payload).hexdigest()
        self._sent_payload = self._send_payload()
        self._running: dict[int, Any] = {}
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._suspects: deque[int] = deque()
        """Runs that got lost with their workers; made again one at a time."""
        self._deaths: Counter[int] = Counter()
        self._submissions = count()

    @property
    def capacity(self) -> int:
        """Enough that no worker waits for the next run; grows as workers join."""
        return 2 + 2 * len(self._client.nthreads())

    def submit(self, number: int) -> None:
        if self._suspects:
            self._suspects.append(number)
        else:
            self._send(number)

    def take(self) -> tuple[int, Outcome]:
        while True:
            if self._suspects and not self._running:
                _require_workers(self._client, self._address, self._no_workers_s)
                # What was sent may have been on lost workers alone.
                self._sent_payload = self._send_payload()
                self._send(self._suspects.popleft())
            try:
                number, future = self._ended.get(timeout=_LOOK_S)
            except queue.Empty:
                _require_workers(self._client, self._address, self._no_workers_s)
                continue
            del self._running[number]
            outcome = self._read(future)
            if outcome is not None:
                return number, outcome
            if not self._running:
                self._deaths[number] += 1
                if self._deaths[number] >= MAX_ATTEMPTS:
                    return number, WorkerDied(MAX_ATTEMPTS)
            self._suspects.append(number)

    def _send(self, number: int) -> None:
        future = self._client.submit(
            make_run_on_worker,
            __version__,
            self._name,
            self._sent_payload,
            self._sweep.runs[number].arguments,
            key=f"podium-{self._sweep.runs[number].key}-{next(self._submissions)}",
            pure=False,
        )
        self._running[number] = future
        future.add_done_callback(lambda done: self._ended.put((number, done)))

    def _read(self, future: Any) -> Outcome | None:
        """None for a run that got lost with its worker."""
        from distributed import KilledWorker

        try:
            outcome: Outcome = future.result(timeout=CONNECT_S)
            return outcome
        except (CancelledError, TimeoutError):
            return None
        except KilledWorker:
            # Dask has tried it several times; whether it was this one shows when it is alone.
            return None if self._running else WorkerDied(MAX_ATTEMPTS)
        except Exception as problem:
            return problem

    def _send_payload(self) -> Any:
        return self._client.scatter(self._payload, broadcast=True, hash=False)


# --- on workers -----------------------------------------------------------------------------------

_LOCK: Final = threading.Lock()
_prepared: tuple[str, Callable[[Any], Any]] | None = None
"""Of a worker: what it has prepared last, and the name of that."""


def make_run_on_worker(version: str, name: str, payload: bytes, arguments: object) -> Outcome:
    """One run, after preparing what is needed unless that was done for the run before."""
    global _prepared  # noqa: PLW0603
    if version != __version__:
        where = f"the worker on {socket.gethostname()}"
        return InputError(f"{where} has Podium {__version__}, this is {version}")
    with _LOCK:
        if _prepared is None or _prepared[0] != name:
            try:
                prepare, shared = pickle.loads(payload)
                _prepared = (name, prepare(shared))
            except Exception as problem:
                return make_sendable(problem)
        return make_sendable(make_run(_prepared[1], arguments))


# --- checks ---------------------------------------------------------------------------------------


def _parse_local(address: str) -> int:
    """Workers of a cluster on this machine; 0 for an address of another."""
    name, colon, number = address.partition(":")
    if name == _LOCAL:
        if not colon:
            return count_cores()
        if number.isascii() and number.isdecimal() and 1 <= int(number) <= 1024:
            return int(number)
    elif "://" in address or address.startswith(_FILE):
        return 0
    raise InputError(f"--dask {address}: no address", remedy=f"give {_FORMS}")


def _find_scheduler(address: str) -> str:
    """The address that a scheduler has written into a file, or the one that was given."""
    if not address.startswith(_FILE):
        return address
    path = address.removeprefix(_FILE)
    try:
        return msgspec.json.decode(read_input(path), type=_SchedulerFile).address
    except msgspec.DecodeError as problem:
        raise InputError(f"is not the file of a Dask scheduler: {problem}", source=path) from None


class _SchedulerFile(msgspec.Struct):
    address: str


def _require_workers(client: Any, address: str, timeout_s: float) -> None:
    try:
        if client.status == "running" and client.nthreads():
            return
        client.wait_for_workers(1, timeout=timeout_s)
    except TimeoutError:
        _refuse(f"the Dask scheduler at {address} has had no workers for {timeout_s:g} s")
    except (OSError, ValueError, RuntimeError):
        _refuse(f"the connection to the Dask scheduler at {address} is lost")


def _refuse(problem: str) -> NoReturn:
    raise InputError(problem, remedy="with --resume, what has ended is not made again")


def _require_version(client: Any) -> None:
    """Asked with a function of Python's own, which workers without Podium have too."""
    found = client.run(resolve_name, "podium:__version__", on_error="return")
    for worker, version in sorted(found.items()):
        if isinstance(version, ImportError):
            raise InputError(
                f"the Dask worker {worker} has no Podium: {version}",
                remedy=f"install podium {__version__} where it runs",
            )
        if version != __version__:
            raise InputError(
                f"the Dask worker {worker} has Podium {version}, this is {__version__}",
                remedy="install the same version everywhere",
            )
