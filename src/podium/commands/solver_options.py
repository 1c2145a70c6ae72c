"""Options of the commands that a solver works for."""

from typing import Annotated

from cyclopts import Parameter

from podium.golang.errors import InputError

TimeLimit = Annotated[
    str,
    Parameter(
        name=["--time-limit"],
        metavar="TIME",
        help="How long the solver may search; the best solution by then is printed with its bound.",
    ),
]


def read_time_limit(text: str) -> float:
    """In seconds; raises InputError."""
    from podium.golang.durations import Duration, DurationError

    try:
        limit_s = Duration.parse(text).seconds
    except DurationError:
        limit_s = 0.0
    if limit_s <= 0:
        raise InputError(f'--time-limit "{text}" is no time', remedy="write it as 30s or 5m")
    return limit_s
