"""How long things last: run times of pods, repairs of nodes."""

import math
from collections.abc import Callable

from podium.golang.errors import ObjectError
from podium.offline.scenarios.durations import parse_duration, parse_positive_duration
from podium.offline.scenarios.exclusive_fields import choose_one, parse_number
from podium.offline.scenarios.file_format import WrittenRunTime
from podium.offline.scenarios.random_streams import Stream

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
