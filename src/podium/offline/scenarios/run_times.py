"""How long things last: run times of pods, repairs of nodes.

Chance in scenarios: a stream of numbers for every cause, so that one does not shift another. A
stream follows from the seed and the names of what it is for. Of Python's generator only `random`
gives the same numbers in every release, so everything else is made from it here.
"""

import math
import random
from collections.abc import Callable
from hashlib import sha256

from podium.golang.errors import ObjectError
from podium.offline.scenarios.durations import parse_duration, parse_positive_duration
from podium.offline.scenarios.file_format import WrittenRunTime, choose_one, parse_number


class Stream:
    """Numbers for one cause."""

    def __init__(self, seed: int, *names: str) -> None:
        text = "\0".join((str(seed), *names))
        self._random = random.Random(int.from_bytes(sha256(text.encode()).digest()[:8])).random

    def draw(self) -> float:
        """From 0 up to, and without, 1."""
        return self._random()

    def draw_exponential(self, mean: float) -> float:
        return -mean * math.log(1.0 - self._random())

    def draw_normal(self) -> float:
        """With mean 0 and deviation 1 (Box and Muller)."""
        size = math.sqrt(-2.0 * math.log(1.0 - self._random()))
        return size * math.cos(2.0 * math.pi * self._random())

    def draw_index(self, count: int) -> int:
        """A number below `count`."""
        return min(int(self._random() * count), count - 1)


RunTime = Callable[[Stream], float]
"""Draws a length of time, in seconds."""
_KINDS = ("constant", "exponential", "lognormal", "uniform")


def read_run_time(written: WrittenRunTime | None, path: str) -> RunTime | None:
    """None where none is given. Raises ObjectError."""
    if written is None:
        return None
    choose_one(written, _KINDS, path)
    if written.exponential is not None:
        mean = parse_positive_duration(written.exponential.mean, f"{path}.exponential.mean")
        return lambda stream: stream.draw_exponential(mean)
    if written.lognormal is not None:
        inside = f"{path}.lognormal"
        median = parse_positive_duration(written.lognormal.median, f"{inside}.median")
        sigma = parse_number(written.lognormal.sigma, f"{inside}.sigma", most=10.0)
        return lambda stream: median * math.exp(sigma * stream.draw_normal())
    if written.uniform is not None:
        inside = f"{path}.uniform"
        least = parse_duration(written.uniform.min, f"{inside}.min")
        most = parse_positive_duration(written.uniform.max, f"{inside}.max")
        if most < least:
            raise ObjectError(f"{inside}.max", "is less than min")
        return lambda stream: least + (most - least) * stream.draw()
    constant = parse_positive_duration(written.constant, f"{path}.constant")
    return lambda _: constant
