"""Plugins of users, kept from taking Podium along when they fall.

The framework takes an exception for a plugin's failure and goes on. What is no `Exception` would
pass through all of it: a plugin that calls `sys.exit`, or leaves a debugger. What a plugin prints
would stand in the middle of a JSON document. And a queue whose order breaks has nobody to blame it
on. So the class that the framework builds is a subclass of the user's, whose methods stand guard
around those of the points.

Contract: whatever a plugin does, short of ending the process behind Python's back, is that
plugin's failure and says so.
"""

import sys
from bdb import BdbQuit
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, Final, cast

from podium.api.errors import InputError
from podium.framework.faults import WrongAnswer, located
from podium.framework.points import POINTS, Plugin, PreFilterExtensions
from podium.framework.status import Status, error
from podium.framework.verdict import Verdict

_ALL_POINTS: Final = (Plugin, PreFilterExtensions, *POINTS.values())
_POINT_MODULES: Final = frozenset(point.__module__ for point in _ALL_POINTS)
_ORDER: Final = ("sort_key", "less")


class PluginExited(Exception):
    """A plugin tried to end the process, or raised what is no error."""


class QueueOrderBroken(InputError):
    """Pods cannot be ordered: there is no attempt that could fail instead."""


_GUARDED: dict[type[Plugin], type[Plugin]] = {}


def guarded(plugin: type[Plugin]) -> type[Plugin]:
    """The class that is built in place of a user's, the same one every time."""
    if plugin not in _GUARDED:
        _GUARDED[plugin] = _subclass(plugin)
    return _GUARDED[plugin]


def _subclass(plugin: type[Plugin]) -> type[Plugin]:
    methods: dict[str, Any] = {"__init__": _guard(plugin.__init__)}
    for name in _point_methods():
        written = getattr(plugin, name, None)
        if written is None or not callable(written) or written.__module__ in _POINT_MODULES:
            continue
        if name in _ORDER:
            methods[name] = _guard_order(plugin, name, written)
        elif name == "filter":
            methods[name] = _guard_verdicts(_guard(written))
        else:
            methods[name] = _guard(written)
    named = {"__module__": plugin.__module__, "__qualname__": plugin.__qualname__}
    made = type(plugin.__name__, (plugin,), {**methods, **named, "__doc__": plugin.__doc__})
    return cast(type[Plugin], made)


def _point_methods() -> list[str]:
    """The synchronous methods that the framework calls; those of the binding cycle wait for the
    API server between their steps, and so their steps are guarded."""
    found: dict[str, None] = {}
    for point in _ALL_POINTS:
        for name, value in vars(point).items():
            if callable(value) and not name.startswith("__") and not isinstance(value, type):
                found[name] = None
    return list(found)


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
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as problem:
        if type(problem).__name__ == "CancelledError":  # asyncio's way to stop a task
            raise
        raise PluginExited(located(problem)) from problem


def _guard(written: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(written)
    def call(*args: Any, **named: Any) -> Any:
        with kept_apart():
            answer = written(*args, **named)
        return _GuardedCoroutine(answer) if hasattr(answer, "__await__") else answer

    return call


class _GuardedCoroutine:
    """An awaitable whose steps are guarded one by one."""

    def __init__(self, awaited: Any) -> None:
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._awaited.__await__()
        sent: Any = None
        problem: BaseException | None = None
        while True:
            try:
                with kept_apart():
                    if problem is not None:
                        asked = steps.throw(problem)
                    else:
                        asked = steps.send(sent) if hasattr(steps, "send") else next(steps)
            except StopIteration as end:
                return end.value
            try:
                sent, problem = (yield asked), None
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as thrown:
                problem = thrown


def _guard_verdicts(written: Callable[..., Any]) -> Callable[..., Any]:
    """Verdicts build their texts when somebody reads them, which is long after the point."""

    @wraps(written)
    def call(*args: Any, **named: Any) -> Any:
        answer = written(*args, **named)
        return (
            answer._replace(describe=_described(answer)) if isinstance(answer, Verdict) else answer
        )

    return call


def _described(verdict: Verdict) -> Callable[[int], Status]:
    def describe(value: int) -> Status:
        try:
            with kept_apart():
                answer: object = verdict.describe(value)
            if isinstance(answer, Status):
                return answer
            raise WrongAnswer("describe of a verdict", "a Status", answer)
        except Exception as problem:
            return error(located(problem))

    return describe


# --- the order of the queue -------------------------------------------------------------------


def _guard_order(
    plugin: type[Plugin], name: str, written: Callable[..., Any]
) -> Callable[..., Any]:
    def refuse(problem: BaseException) -> QueueOrderBroken:
        return QueueOrderBroken(f"plugin {plugin.name} cannot order the queue: {located(problem)}")

    @wraps(written)
    def call(*args: Any, **named: Any) -> Any:
        try:
            with kept_apart():
                answer = written(*args, **named)
                return bool(answer) if name == "less" else _Key(answer, refuse)
        except QueueOrderBroken:
            raise
        except Exception as problem:
            raise refuse(problem) from problem

    return call


class _Key:
    """A sort key of a user's, which may turn out not to be comparable."""

    __slots__ = ("_key", "_refuse")

    def __init__(self, key: Any, refuse: Callable[[BaseException], QueueOrderBroken]) -> None:
        self._key = key
        self._refuse = refuse

    def __lt__(self, other: "_Key") -> bool:
        try:
            return bool(self._key < other._key)
        except QueueOrderBroken:
            raise
        except Exception as problem:
            raise self._refuse(problem) from problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and not (self < other or other < self)

    __hash__ = None  # type: ignore[assignment]
