"""Calls into code of users: what it prints, raises and how long it takes stays its own.

Contract: a call ends with an answer, with an `Exception`, or with what ends the whole process on
purpose (Ctrl-C, a cancelled task).
"""

import sys
from bdb import BdbQuit
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from traceback import walk_tb
from typing import Any, NamedTuple

from podium.framework.faults import located
from podium.framework.sources import ValueSource
from podium.user_code.time_limits import Interrupted, call_limited


class PluginExited(Exception):
    """A plugin tried to end the process, or raised what is no error."""


@contextmanager
def kept_apart() -> Iterator[None]:
    """Run code of a user's: what it prints is no part of an answer, and it ends nothing but itself.

    On a terminal output stays where it is, so that debuggers can edit lines.
    """
    try:
        if sys.stdout.isatty():
            yield
        else:
            with redirect_stdout(sys.stderr):
                yield
    except BdbQuit:
        raise KeyboardInterrupt from None
    except (Exception, KeyboardInterrupt, GeneratorExit, Interrupted):
        raise
    except BaseException as problem:
        if isinstance(problem, SystemExit) and _is_raised_by_pdb(problem):
            raise KeyboardInterrupt from None
        if type(problem).__name__ == "CancelledError":  # asyncio's way to stop a task
            raise
        raise PluginExited(located(problem)) from problem


def _is_raised_by_pdb(exit_: SystemExit) -> bool:
    """From Python 3.14 on `quit` in a debugger that code called exits; before, it was a BdbQuit."""
    frames = [frame for frame, _ in walk_tb(exit_.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == "pdb"


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

    def call(self, function: Callable[..., Any], *args: Any, what: str = "") -> Any:
        """Another function that this one has led to, which is called `what`."""
        with kept_apart():
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
        while True:
            try:
                if problem is not None:
                    asked = call(steps.throw, problem)
                elif hasattr(steps, "send"):
                    asked = call(steps.send, sent)
                else:
                    asked = call(next, steps)
            except StopIteration as end:
                return end.value
            try:
                sent, problem = (yield asked), None
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as thrown:
                problem = thrown


async def fetch_guarded(source: ValueSource) -> object:
    """What a source answers. Raises TookTooLong when it computes for too long; how long it may
    wait is its driver's affair."""
    kind = type(source)
    fetch = GuardedCall(f"source {source.name}", kind.__module__, "fetch", source.fetch)
    answer = fetch()
    return await (GuardedCoroutine(fetch, answer) if hasattr(answer, "__await__") else answer)
