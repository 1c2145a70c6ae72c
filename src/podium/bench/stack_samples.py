"""Where the time of a run goes, by call stack: looked at every other millisecond of CPU time.

A profiler that counts calls knows callers but not whole stacks, and slows small functions down more
than large ones; samples do neither. Time inside compiled code belongs to the Python function that
called it.
"""

import signal
from collections import Counter
from types import FrameType
from typing import Any

from podium.bench.function_times import short_path

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
