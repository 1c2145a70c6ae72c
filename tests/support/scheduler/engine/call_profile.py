"""Which functions of Podium one pod passes through, recorded with a profiler.

A recording is a list of calls in order, a line of Podium's own code each; what the standard library
and numpy do is left out. It can be cut to the way of one pod, counted, and compared with another.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import podium

_ROOT = f"{Path(podium.__file__).parent}/"

_MAY_GO_ON = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR

ENGINE_ROOMS = ("engine", "plugins", "framework", "cluster", "config", "kubernetes", "golang")
"""The engine and everything below it; the rest are drivers."""


class Call(NamedTuple):
    """A function by its name, and its file from the package on: `scheduler/engine/scheduler.py`."""

    file: str
    function: str

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]


class Figures(NamedTuple):
    """How far a reader has to go: calls, files, changes of file and of room between calls."""

    calls: int
    files: int
    file_switches: int
    room_switches: int


def figures(calls: list[Call]) -> Figures:
    pairs = list(pairwise(calls))
    return Figures(
        len(calls),
        len({call.file for call in calls}),
        sum(before.file != after.file for before, after in pairs),
        sum(before.room != after.room for before, after in pairs),
    )


@contextmanager
def recording() -> Iterator[list[Call]]:
    """The calls made while the context lasts; a generator or coroutine that goes on after a stop
    is not called again. What observers do about what they hear is theirs and left out."""
    calls: list[Call] = []
    telling: list[FrameType] = []
    stopped: set[FrameType] = set()
    known: dict[CodeType, Call | None] = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code not in known:
            here = code.co_filename
            file = here.removeprefix(_ROOT)
            known[code] = Call(file, code.co_qualname) if here != file else None
        call = known[code]
        if call is None:
            return
        if telling:
            if event == "return" and frame is telling[0]:
                telling.clear()
        elif event == "call":
            if call.function == "Observers._tell":
                telling.append(frame)
            elif frame not in stopped:
                calls.append(call)
        elif event == "return" and code.co_flags & _MAY_GO_ON:
            stopped.add(frame)

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def way_of_a_pod(calls: list[Call]) -> list[Call]:
    """The first pod that got a node: from its pop to the call of its binder.

    Between the end of its scheduling cycle and the start of its binding cycle, and around both,
    drivers do what is theirs: calls of other packages are left out, and so are observers that do
    nothing about what they hear.
    """
    names = [call.function for call in calls]
    assumed = names.index("Cluster.assume")
    popped = max(at for at in range(assumed) if names[at] == "SchedulingQueue.pop")
    decided = names.index("Bindings._bind", assumed)
    binding = names.index("Binding.run", decided)
    bound = names.index("DefaultBinder.bind", binding)
    way = [*calls[popped : decided + 1], *calls[binding : bound + 1]]
    return [
        call
        for call in way
        if call.room in ENGINE_ROOMS and not call.function.startswith("Observer.")
    ]
