"""A test that hangs fails with its name and the stacks of its process, and the run goes on.

The limit is generous: it is there for what would never end, not for what is slow today. It covers a
test with its fixtures, and is longer where a test says so: `@pytest.mark.time_limit(1200)`.

The main thread is interrupted by a signal of our own choosing: `SIGALRM`, which packages for this
purpose use, belongs to the time limits of users' plugins (`podium.user_code.time_limits`). A main
thread that does not come back to Python within `GRACE_S` after that, because it hangs in C, ends
its process; pytest-xdist names the test and goes on with a new one.
"""

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import Final

import pytest

LIMIT_S: Final = float(os.environ.get("PODIUM_TEST_LIMIT_S", "600"))
GRACE_S: Final = 60.0
_SIGNAL: Final = signal.SIGRTMIN + 7
EXIT_CODE: Final = 70


class Watchdog:
    """Interrupts the main thread when a test has taken too long."""

    def __init__(self, test: str, limit_s: float) -> None:
        self._test = test
        self._limit_s = limit_s
        self._over = threading.Event()
        self._stacks = ""
        self._main = threading.main_thread().ident
        self._thread = threading.Thread(target=self._watch, daemon=True, name="time limit")

    def start(self) -> None:
        signal.signal(_SIGNAL, self._fail)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        signal.signal(_SIGNAL, signal.SIG_DFL)

    def _watch(self) -> None:
        if self._over.wait(self._limit_s) or self._main is None:
            return
        with TemporaryFile("w+") as file:
            faulthandler.dump_traceback(file, all_threads=True)
            file.seek(0)
            self._stacks = file.read()
        signal.pthread_kill(self._main, _SIGNAL)
        if self._over.wait(GRACE_S):
            return
        print(f"{self._test} hangs where Python cannot interrupt it", file=sys.__stderr__)
        faulthandler.dump_traceback(sys.__stderr__ or 2, all_threads=True)
        os._exit(EXIT_CODE)

    def _fail(self, number: int, frame: FrameType | None) -> None:
        children = "\n".join(describe_children(os.getpid())) or "none"
        pytest.fail(
            f"{self._test} did not end within {self._limit_s:g} s\n\n{self._stacks}\n"
            f"Processes that it started and that still run:\n{children}",
            pytrace=False,
        )


def describe_children(parent: int) -> Iterator[str]:
    """The children of a process, one line each; nothing where there is no /proc."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                command = status.with_name("cmdline").read_bytes().replace(b"\0", b" ")
                yield f"  {status.parent.name} {command.decode(errors='replace').strip()}"


@contextmanager
def limit_time(test: str, limit_s: float) -> Iterator[None]:
    """Fail what runs in the main thread if it takes longer than that."""
    if limit_s <= 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    watchdog = Watchdog(test, limit_s)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()


def limit_of(item: pytest.Item) -> float:
    marker = item.get_closest_marker("time_limit")
    return float(marker.args[0]) if marker else LIMIT_S


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with limit_time(item.nodeid, limit_of(item)):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with limit_time(item.nodeid, limit_of(item)):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with limit_time(item.nodeid, limit_of(item)):
        yield
