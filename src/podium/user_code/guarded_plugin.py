"""Plugins of users, kept from taking Podium along when they fall.

The framework takes an exception for a plugin's failure and goes on. What is no `Exception` would
pass through all of it: a plugin that calls `sys.exit`, or leaves a debugger. What a plugin prints
would be in the middle of a JSON document. One that does not come back would stop everything. And
a queue whose order breaks has nobody to blame it on. So the class that the framework builds is a
subclass of the user's, whose methods stand guard around those of the points.

Contract: whatever a plugin does, short of ending the process behind Python's back, is that
plugin's failure and says so.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import GeneratorType
from typing import Any, Final, cast
from weakref import ref

from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.events import Registration
from podium.scheduler.framework.faults import (
    QueueOrderBroken,
    TookTooLong,
    WrongAnswer,
    locate_problem,
)
from podium.scheduler.framework.points import POINTS, Plugin, PreFilterExtensions
from podium.scheduler.framework.status import Status, error
from podium.user_code.guarded_calls import GuardedCall, GuardedCoroutine, guarded_steps
from podium.user_code.time_limits import LOADING_FACTOR

_ALL_POINTS: Final = (Plugin, PreFilterExtensions, *POINTS.values())
_POINT_MODULES: Final = frozenset(point.__module__ for point in _ALL_POINTS)
_ORDER: Final = ("sort_key", "less")
_PLAIN: Final = frozenset({bool, int, float, str, bytes})


_GUARDED: dict[type[Plugin], type[Plugin]] = {}


def guard_plugin(plugin: type[Plugin]) -> type[Plugin]:
    """The class that is built in place of a user's, the same one every time."""
    if plugin not in _GUARDED:
        made = _GUARDED[plugin] = _subclass(plugin)
        _GUARDED[made] = made
    return _GUARDED[plugin]


def _subclass(plugin: type[Plugin]) -> type[Plugin]:
    subject, module = f"plugin {plugin.name}", plugin.__module__
    building = GuardedCall(subject, module, "building", plugin.__init__, LOADING_FACTOR)
    methods: dict[str, Any] = {"__init__": _guard(building)}
    for name in _point_methods():
        written = getattr(plugin, name, None)
        if written is None or not callable(written) or written.__module__ in _POINT_MODULES:
            continue
        method = GuardedCall(subject, module, name, written)
        if name in _ORDER:
            methods[name] = _guard_order(method)
        elif name == "filter":
            methods[name] = _guard_verdicts(method)
        elif name == "events":
            methods[name] = _guard_hints(method)
        else:
            methods[name] = _guard(method)
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


def _guard(method: GuardedCall) -> Callable[..., Any]:
    written, name = method.written, method.name
    attempts = _Attempts(method.subject)

    @wraps(written)
    def call(*args: Any, **named: Any) -> Any:
        if name != "unreserve":
            attempts.refuse_late(args)
        try:
            answer = method(*args, **named)
        except TookTooLong as late:
            attempts.keep_late(args, str(late))
            raise
        if isinstance(answer, GeneratorType):
            return guarded_steps(method, answer)
        return GuardedCoroutine(method, answer) if hasattr(answer, "__await__") else answer

    return call


class _Attempts:
    """Which attempt a plugin took too long in: it is not asked again in that one, neither by the
    plain form of a cached phase nor at a later point."""

    _late: tuple[str, "ref[Cycle]", str] | None = None
    """The plugin, the attempt and what was said of it; neither keeps what the call had at hand."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin

    def refuse_late(self, args: tuple[Any, ...]) -> None:
        late = _Attempts._late
        if late is None or late[0] != self._plugin or not args[1:2]:
            return
        attempt = late[1]()
        if attempt is not None and args[1] is attempt:
            raise TookTooLong(late[2])

    def keep_late(self, args: tuple[Any, ...], said: str) -> None:
        if args[1:2] and isinstance(args[1], Cycle):
            _Attempts._late = self._plugin, ref(args[1]), said


def _guard_verdicts(method: GuardedCall) -> Callable[..., Any]:
    """Verdicts build their texts when somebody reads them, which is long after the point."""
    guarded_filter = _guard(method)

    @wraps(method.written)
    def call(*args: Any, **named: Any) -> Any:
        answer = guarded_filter(*args, **named)
        if not isinstance(answer, Verdict):
            return answer
        return answer._replace(describe=_guard_description(method, answer))

    return call


def _guard_description(method: GuardedCall, verdict: Verdict) -> Callable[[int], Status]:
    def describe(value: int) -> Status:
        try:
            answer: object = method.call(verdict.describe, value, what="describe")
            if isinstance(answer, Status):
                return answer
            raise WrongAnswer("describe of a verdict", "a Status", answer)
        except Exception as problem:
            return error(locate_problem(problem))

    return describe


def _guard_hints(method: GuardedCall) -> Callable[..., Any]:
    """Queueing hints are functions that `events` hands out."""
    guarded_events = _guard(method)

    def guard_hint(registration: object) -> object:
        if not isinstance(registration, Registration) or not callable(registration.hint):
            return registration
        hint = registration.hint

        def call(*args: Any) -> Any:
            return method.call(hint, *args, what="a queueing hint")

        return registration._replace(hint=call)

    @wraps(method.written)
    def call(*args: Any, **named: Any) -> Any:
        declared = guarded_events(*args, **named)
        return [*map(guard_hint, declared)] if isinstance(declared, list | tuple) else declared

    return call


# --- the order of the queue -------------------------------------------------------------------


def _guard_order(method: GuardedCall) -> Callable[..., Any]:
    written, name = method.written, method.name

    def within_order(function: Callable[..., Any], *args: Any) -> Any:
        try:
            return method.call(function, *args)
        except QueueOrderBroken:
            raise
        except Exception as problem:
            raise QueueOrderBroken(
                f"{method.subject} cannot order the queue: {locate_problem(problem)}"
            ) from problem

    @wraps(written)
    def call(*args: Any) -> Any:
        answer = within_order(written, *args)
        return within_order(bool, answer) if name == "less" else _Key(answer, within_order)

    return call


class _Key:
    """A sort key of a user's, which may turn out not to be comparable."""

    __slots__ = ("_is_plain", "_key", "_within_order")

    def __init__(self, key: Any, within_order: Callable[..., Any]) -> None:
        self._key = key
        self._within_order = within_order
        self._is_plain = _is_plain(key)

    def __lt__(self, other: "_Key") -> bool:
        if self._is_plain and other._is_plain:
            with suppress(TypeError):
                return bool(self._key < other._key)
        return bool(self._within_order(_is_less, self._key, other._key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and not (self < other or other < self)

    __hash__ = None  # type: ignore[assignment]


def _is_less(one: Any, other: Any) -> bool:
    return bool(one < other)  # of arrays the comparison is fine, and its truth is not


def _is_plain(key: object) -> bool:
    """Whether comparing it runs none of the user's code."""
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return type(key) in _PLAIN
