"""Where the time of a run goes: by function in exact counts, by call stack in samples.

Where the time of a run goes, by call stack: looked at every other millisecond of CPU time. A
profiler that counts calls knows callers but not whole stacks, and slows small functions down more
than large ones; samples do neither. Time inside compiled code belongs to the Python function that
called it.
"""

import cProfile
import signal
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import msgspec

MAX_FUNCTIONS = 40


class FunctionTime(msgspec.Struct, kw_only=True):
    """`own_s` is spent in the function itself, `total_s` with all that it calls; `share` is that of
    `own_s` in the whole run."""

    name: str
    place: str
    calls: int
    own_s: float
    total_s: float
    share: float


class FunctionTimes:
    """Counts calls between entering and leaving."""

    def __init__(self) -> None:
        self._profile = cProfile.Profile()

    def __enter__(self) -> "FunctionTimes":
        self._profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self._profile.disable()

    def top(self, most: int = MAX_FUNCTIONS) -> tuple[FunctionTime, ...]:
        """Functions by their own time, the longest first."""
        entries = sorted(self._profile.getstats(), key=lambda entry: -entry.inlinetime)
        whole_s = sum(entry.inlinetime for entry in entries) or 1.0
        found = []
        for entry in entries[:most]:
            name, place = described(entry.code)
            found.append(
                FunctionTime(
                    name=name,
                    place=place,
                    calls=entry.callcount,
                    own_s=round(entry.inlinetime, 5),
                    total_s=round(entry.totaltime, 5),
                    share=round(entry.inlinetime / whole_s, 4),
                )
            )
        return tuple(found)


def described(code: CodeType | str) -> tuple[str, str]:
    """A function's name and where it stands: `Engine.tick`, `scheduler/engine/scheduler.py:52`."""
    if isinstance(code, str):
        return code.strip("<>"), "built in"
    return code.co_qualname, f"{short_path(code.co_filename)}:{code.co_firstlineno}"


def short_path(path: str) -> str:
    """A file's path from its package on."""
    end = max(_end_of(mark, path) for mark in ("/podium/", "/site-packages/"))
    return path[end:] if end else path.rpartition("/")[2]


def _end_of(mark: str, path: str) -> int:
    """Where the last of its marks ends; zero without one."""
    before, found, _ = path.rpartition(mark)
    return len(before) + len(found)


EVERY_S = 0.002

Stack = tuple[str, ...]
"""Functions from the outermost to the one at work."""


class StackSamples:
    """Takes samples between entering and leaving; in the main thread only."""

    def __init__(self) -> None:
        self.stacks: Counter[Stack] = Counter()
        self._before: Any = None

    def __enter__(self) -> "StackSamples":
        self._before = signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self._before)

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        found: list[str] = []
        while frame is not None:
            found.append(f"{frame.f_code.co_qualname} ({short_path(frame.f_code.co_filename)})")
            frame = frame.f_back
        self.stacks[tuple(reversed(found))] += 1


def folded(stacks: Counter[Stack]) -> dict[str, int]:
    """Stacks as text, functions separated by semicolons, for sending and for other tools."""
    return {";".join(stack): count for stack, count in stacks.items()}
