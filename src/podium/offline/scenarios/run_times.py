"""How long things last: run times of pods, repairs of nodes.

Chance in scenarios: a stream of numbers for every cause, so that one does not shift another. A
stream follows from the seed and the names of what it is for. Of Python's generator only `random`
gives the same numbers in every release, so everything else is made from it here.

Lengths of time and rates as people write them in scenario files: `7d`, `1h30m`, `120/h`.
"""

import math
import random
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from podium.golang.durations import Duration, DurationError
from podium.golang.errors import ObjectError
from podium.offline.scenarios.file_format import WrittenRunTime, choose_one, parse_number


class RandomStream:
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


RunTime = Callable[[RandomStream], float]
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


DAY_S: Final = 86_400.0
_DAYS: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)d(.*)", re.DOTALL)
_RATE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)/([smhd])")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY_S}
EXAMPLE: Final = "write it as 30s, 10m, 1h30m or 7d"


def parse_duration(text: str, path: str) -> float:
    """Seconds; Go's notation with days before it. Raises ObjectError.

    >>> parse_duration("1d12h", "duration")
    129600.0
    """
    days, rest = 0.0, text
    if (found := _DAYS.fullmatch(text)) is not None:
        days, rest = float(found[1]), found[2]
    try:
        seconds = days * DAY_S + (Duration.parse(rest).seconds if rest or not days else 0.0)
    except DurationError:
        raise ObjectError(path, f'"{text}" is no length of time', EXAMPLE) from None
    if rest.startswith(("-", "+")) or seconds < 0:
        raise ObjectError(path, f'"{text}" is no length of time', EXAMPLE)
    return seconds


def parse_positive_duration(text: str, path: str) -> float:
    """The same, and more than nothing."""
    seconds = parse_duration(text, path)
    if seconds <= 0:
        raise ObjectError(path, "must be more than 0", EXAMPLE)
    return seconds


def parse_rate(text: str, path: str) -> float:
    """How often in a second. Raises ObjectError.

    >>> parse_rate("120/m", "rate")
    2.0
    """
    found = _RATE.fullmatch(text)
    if found is None or float(found[1]) <= 0:
        raise ObjectError(path, f'"{text}" is no rate', "write it as 5/s, 30/m, 120/h or 500/d")
    return float(found[1]) / _SECONDS[found[2]]


def format_duration(seconds: float) -> str:
    """For people, in at most two units.

    >>> format_duration(129_600), format_duration(90), format_duration(0.25)
    ('1d12h', '1m30s', '0.25s')
    """
    if seconds < 60:
        return f"{seconds:.3g}s"
    left = round(seconds)
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2])
