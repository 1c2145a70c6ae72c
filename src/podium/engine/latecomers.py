"""What happens while a cycle waits for extenders is heard when it has ended.

Upstream a cycle works on a snapshot: what changes in the cluster meanwhile is for the next one.
Here plugins read the cluster itself, which is right as long as nothing changes in the middle of a
cycle. A driver that lets other work go on while extenders are asked may therefore tell the engine
of events, ended bindings and evictions at any time; they take effect in the same order as soon as
the cycle is over. The longest that this can take is what the extenders' timeouts allow.
"""

from collections.abc import Callable, Generator
from functools import partial, wraps
from inspect import GEN_RUNNING, getgeneratorstate
from typing import Any


class Latecomers:
    def __init__(self) -> None:
        self._cycle: Generator[Any, Any, Any] | None = None
        self._waiting: list[Callable[[], object]] = []

    def guard(self, part: object, *names: str) -> None:
        """Keep calls of these methods of a part back; without names, of all public ones."""
        for name in names or _public_methods(part):
            setattr(part, name, self._kept_back(getattr(part, name)))

    def start(self, cycle: Generator[Any, Any, Any]) -> None:
        if self._cycle is not None:
            raise RuntimeError("a scheduling cycle is under way; end or close it before the next")
        self._cycle = cycle

    def end(self) -> None:
        """The cycle is over: let everybody in. Whatever goes wrong with one stops no other."""
        self._cycle = None
        waiting, self._waiting = self._waiting, []
        problems: list[Exception] = []
        for call in waiting:
            try:
                call()
            except Exception as problem:
                problems.append(problem)
        if problems:
            raise ExceptionGroup("while events were applied that a cycle had kept back", problems)

    def _kept_back(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if self._cycle is None or getgeneratorstate(self._cycle) == GEN_RUNNING:
                return call(*args, **kwargs)
            self._waiting.append(partial(call, *args, **kwargs))
            return None

        return guarded


def _public_methods(part: object) -> list[str]:
    kind = type(part)
    return [n for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))]
