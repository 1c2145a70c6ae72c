"""The ways into the engine from outside, through one door.

A transition is a call of a driver: an event that comes in, the passing of time, the report of a
binding or an eviction, a scheduling cycle. Methods that are one carry `@transition`; everything
else is called from within.

Upstream a cycle works on a snapshot: what changes in the cluster meanwhile is for the next one.
Here plugins read the cluster itself, which is right as long as nothing changes in the middle of a
cycle. A driver that lets other work go on while extenders are asked may therefore call at any time:
what it says is deferred, and released in the same order as soon as the cycle is over. The longest
that this can take is what the extenders' timeouts allow.

With `--validate`, the whole state is checked where a transition ends.
"""

from collections.abc import Callable, Generator
from functools import partial, wraps
from inspect import GEN_CREATED, GEN_SUSPENDED, getgeneratorstate
from typing import Concatenate, Never, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")


class Validator(Protocol):
    def check(self, transition: str, *about: object) -> None:
        """Raise if the state cannot be; `about` are the things that the transition concerned."""


class Transitions:
    """The door: which cycle is under way, and what waits for its end."""

    def __init__(self) -> None:
        self.free = True
        """Whether a call may simply go through: no cycle is under way and nobody checks."""
        self._validator: Validator | None = None
        self._cycle: Generator[object, Never, object] | None = None
        self._deferred: list[Callable[[], None]] = []
        self._depth = 0

    def validate(self, validator: Validator) -> None:
        """Have the state checked from now on."""
        self._validator = validator
        self.free = False

    def begin_cycle(self, cycle: Generator[object, Never, object]) -> None:
        """A scheduling cycle is a transition; there is one at a time."""
        if self._cycle is not None and getgeneratorstate(self._cycle) != GEN_CREATED:
            raise RuntimeError("a scheduling cycle is under way; end or close it before the next")
        self._cycle = cycle
        self.free = False

    def end_cycle(self) -> None:
        """The cycle is over, or given up: what was deferred has its turn."""
        try:
            if self._deferred:
                self.release()
        finally:
            self._cycle = None
            self.free = self._validator is None

    def check(self, transition: str, *about: object) -> None:
        """See whether the state can be, if somebody wants to know."""
        if self._validator is not None and self._depth == 0:
            self._validator.check(transition, *about)

    def enter(self, title: str, call: Callable[[], None], *about: object) -> None:
        """A call from outside that may not simply go through."""
        cycle = GEN_CREATED if self._cycle is None else getgeneratorstate(self._cycle)
        if cycle == GEN_SUSPENDED:
            self.defer(call)
            return
        if cycle != GEN_CREATED:  # from within
            call()
            return
        self._depth += 1
        try:
            call()
        finally:
            self._depth -= 1
        self.check(title, *about)

    def defer(self, call: Callable[[], None]) -> None:
        """Keep a call until the cycle is over."""
        self._deferred.append(call)

    def release(self) -> None:
        """Let everybody in. Whatever goes wrong with one stops no other."""
        deferred, self._deferred = self._deferred, []
        problems: list[Exception] = []
        for call in deferred:
            try:
                call()
            except Exception as problem:
                problems.append(problem)
        if problems:
            raise ExceptionGroup("while events were applied that a cycle had kept back", problems)


class HasTransitions(Protocol):
    transitions: Transitions


S = TypeVar("S", bound=HasTransitions)


def transition(
    method: Callable[Concatenate[S, P], None],
) -> Callable[Concatenate[S, P], None]:
    """A way in from outside: deferred while a cycle waits, checked when it ends."""

    @wraps(method)
    def enter(part: S, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if part.transitions.free:
            method(part, *args, **kwargs)
        else:
            call = partial(method, part, *args, **kwargs)
            part.transitions.enter(method.__qualname__, call, *args)

    return enter
