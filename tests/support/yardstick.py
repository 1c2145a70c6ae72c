"""How much work something is, in a unit that is the same on every machine.

A bound on work must hold on a machine that is ten times slower, and on one that eight other
programs use as well: seconds of any clock say nothing there. So the unit is a fixed piece of work
of the same nature as what tests measure: half a mebibyte of JSON is decoded, walked in Python and
encoded again, in this process, right before and right after. The dearer of the two counts, since
whatever made it dear may have been there in between. Limits leave room for several times more than
was ever seen; what grows with the square of its input is beyond them by far.

This is the only place of all tests that reads a clock of the processor.
"""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

T = TypeVar("T")

_OBJECTS: Final = 3_000
_LOOK_S: Final = 5.0


def _write_document() -> str:
    """A list of small pods."""
    return json.dumps(
        [
            {
                "metadata": {"name": f"pod-{number}", "labels": {"app": "web", "n": str(number)}},
                "spec": {
                    "containers": [{"name": "main", "ports": [{"containerPort": number + 1}]}],
                    "nodeSelector": {"zone": "north", "disk": "fast"},
                },
            }
            for number in range(_OBJECTS)
        ]
    )


_DOCUMENT: Final = _write_document()


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


@contextmanager
def untraced() -> Iterator[None]:
    """Without coverage, which costs more than what is measured."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def _time_work(work: Callable[[], T]) -> tuple[T, float]:
    started = time.process_time()
    value = work()
    return value, time.process_time() - started


def _time_yardstick() -> float:
    _, spent_s = _time_work(lambda: json.dumps(_copy(json.loads(_DOCUMENT))))
    return spent_s


@contextmanager
def interrupt_beyond(max_yardsticks: float) -> Iterator[None]:
    """Fail in the midst of work that is too much; less of it is not even looked at."""
    started = time.process_time()

    def look(*_: object) -> None:
        spent_s = time.process_time() - started
        if spent_s > max_yardsticks * _time_yardstick():
            raise AssertionError(f"still at work after {max_yardsticks} yardsticks")

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, _LOOK_S, _LOOK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def measure_work(work: Callable[[], T]) -> tuple[T, float]:
    """What the work returns, and how many yardsticks it took."""
    with untraced():
        before = _time_yardstick()
        value, spent_s = _time_work(work)
        after = _time_yardstick()
    return value, spent_s / max(before, after)
