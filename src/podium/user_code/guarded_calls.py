"""Calls into code of users: what it prints, raises and how long it takes stays its own.

Contract: a call ends with an answer, with an `Exception`, or with what ends the whole process on
purpose (Ctrl-C, a debugger that is left, a task that was cancelled). The same exceptions raised by
the code itself are failures of that call: who raises `KeyboardInterrupt` has not pressed Ctrl-C.
"""

import signal
import sys
from bdb import BdbQuit
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from opcode import opmap
from traceback import walk_tb
from typing import Any, Final, NamedTuple

from podium.scheduler.framework.faults import locate_problem
from podium.scheduler.framework.sources import ValueSource
from podium.user_code.time_limits import Interrupted, call_limited

_RAISE: Final = opmap["RAISE_VARARGS"]


class PluginExited(Exception):
    """A plugin tried to end the process, or raised what is no error."""


class DebuggerLeft(KeyboardInterrupt):
    """Somebody left a debugger, which ends the command as Ctrl-C does."""


@contextmanager
def kept_apart(*, is_cancelled: bool = False) -> Iterator[None]:
    """Run code of a user's: what it prints is no part of an answer, and it ends nothing but itself.
    `is_cancelled` says that its task was told to stop.

    On a terminal output stays where it is, so that debuggers can edit lines.
    """
    try:
        if sys.stdout.isatty():
            yield
        else:
            with redirect_stdout(sys.stderr):
                yield
    except BdbQuit:
        raise DebuggerLeft from None
    except (Exception, DebuggerLeft, Interrupted):
        raise
    except BaseException as problem:
        if isinstance(problem, SystemExit) and _is_raised_by_pdb(problem):
            raise DebuggerLeft from None
        if isinstance(problem, KeyboardInterrupt) and _is_pressed(problem):
            raise
        if is_cancelled and type(problem).__name__ == "CancelledError":
            raise
        raise PluginExited(locate_problem(problem)) from problem


def _is_raised_by_pdb(exit_: SystemExit) -> bool:
    """From Python 3.14 on `quit` in a debugger that code called exits; before, it was a BdbQuit."""
    frames = [frame for frame, _ in walk_tb(exit_.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == "pdb"


def _is_pressed(interrupt: KeyboardInterrupt) -> bool:
    """Whether the interruption came from outside: somebody pressed Ctrl-C while the code was at
    work, and no `raise` of its own is where it began. Where a driver handles the signal itself, no
    exception comes of it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    innermost = interrupt.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return False
    code = innermost.tb_frame.f_code.co_code
    return code[innermost.tb_lasti] != _RAISE


class GuardedCall(NamedTuple):
    """A function as its author wrote it; `subject` is whose it is, in words."""

    subject: str
    module: str
    name: str
    written: Callable[..., Any]
    factor: int = 1

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Raises TookTooLong, or what the function raises."""
        with kept_apart():
            return self.within_limit(self.written, args, named)

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        what: str = "",
        is_cancelled: bool = False,
    ) -> Any:
        """Another function that this one has led to, which is called `what`; `is_cancelled` if
        its task was told to stop."""
        with kept_apart(is_cancelled=is_cancelled):
            return self.within_limit(function, args, what=what)

    def within_limit(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        named: dict[str, Any] | None = None,
        what: str = "",
    ) -> Any:
        what = what or self.name
        return call_limited(self.subject, what, self.module, function, args, named, self.factor)


def guarded_steps(method: GuardedCall, steps: Any) -> Generator[Any, Any, Any]:
    """A point that asks extenders in between, each of its steps guarded."""
    answers: Any = None
    while True:
        try:
            asked = method.call(steps.send, answers)
        except StopIteration as end:
            return end.value
        answers = yield asked


class GuardedCoroutine:
    """An awaitable whose steps are guarded one by one."""

    def __init__(self, method: GuardedCall, awaited: Any) -> None:
        self._method = method
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._awaited.__await__()
        call = self._method.call
        sent: Any = None
        problem: BaseException | None = None
        is_cancelled = False
        while True:
            try:
                if problem is not None:
                    asked = call(steps.throw, problem, is_cancelled=is_cancelled)
                elif hasattr(steps, "send"):
                    asked = call(steps.send, sent, is_cancelled=is_cancelled)
                else:
                    asked = call(next, steps, is_cancelled=is_cancelled)
            except StopIteration as end:
                return end.value
            try:
                sent, problem = (yield asked), None
            except GeneratorExit:
                with suppress(Exception):
                    call(steps.close, is_cancelled=True)
                raise
            except BaseException as thrown:
                problem = thrown
                is_cancelled = is_cancelled or type(thrown).__name__ == "CancelledError"


async def fetch_guarded(source: ValueSource) -> object:
    """What a source answers. Raises TookTooLong when it computes for too long; how long it may
    wait is its driver's affair."""
    kind = type(source)
    fetch = GuardedCall(f"source {source.name}", kind.__module__, "fetch", source.fetch)
    answer = fetch()
    return await (GuardedCoroutine(fetch, answer) if hasattr(answer, "__await__") else answer)
