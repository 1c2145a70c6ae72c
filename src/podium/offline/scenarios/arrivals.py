"""When workloads of a tenant arrive: by chance, by the clock, or as it was recorded.

A rate that changes over the day is a Poisson process of its highest rate, thinned: each arrival
stays with the probability of the rate at its time over the highest (Lewis and Shedler). The first
moment of a run is midnight on a Monday.
"""

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.golang.errors import InputError, ObjectError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.offline.scenarios.file_format import (
    WrittenArrivals,
    WrittenBurst,
    WrittenDiurnal,
    WrittenTrace,
    choose_one,
    parse_number,
)
from podium.offline.scenarios.run_times import (
    DAY_S,
    RandomStream,
    parse_duration,
    parse_positive_duration,
    parse_rate,
)

_KINDS: Final = ("poisson", "diurnal", "interval", "burst", "trace")
_COLUMNS: Final = ("at", "run_time", "workload")
_FIRST_WEEKEND_DAY: Final = 5


class Arrival(NamedTuple):
    """`run_time_s` and `workload` are there where a trace has them."""

    at: float
    run_time_s: float | None = None
    workload: str = ""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """`draw` gives all arrivals in the order of their times, for ever or as many as there are; its
    number is how many times as many there are to be as the file says."""

    draw: Callable[[RandomStream, float], Iterator[Arrival]]
    named_workloads: frozenset[str] = frozenset()
    """Those that a trace names."""


def read_arrivals(written: WrittenArrivals | None, path: str, beside: str) -> Arrivals:
    """`beside` is the folder that files of a trace are found from. Raises ObjectError, and
    InputError for such a file."""
    if written is None:
        raise ObjectError(path, "is missing", f"give one of {', '.join(_KINDS)}")
    kind = choose_one(written, _KINDS, path)
    inside = f"{path}.{kind}"
    if written.poisson is not None:
        rate = parse_rate(written.poisson.rate, f"{inside}.rate")
        return Arrivals(lambda stream, scale: _poisson(stream, rate * scale))
    if written.diurnal is not None:
        return _read_diurnal(written.diurnal, inside)
    if written.interval is not None:
        every = parse_positive_duration(written.interval.every, f"{inside}.every")
        first = parse_duration(written.interval.first, f"{inside}.first")
        return Arrivals(lambda _, scale: _interval(first, every / scale))
    if written.burst is not None:
        return _read_burst(written.burst, inside)
    found = _read_trace(written.trace or WrittenTrace(), inside, beside)
    named = frozenset(arrival.workload for arrival in found if arrival.workload)
    return Arrivals(lambda stream, scale: _replay(found, stream, scale), named)


def _read_diurnal(written: WrittenDiurnal, path: str) -> Arrivals:
    rate = parse_rate(written.rate, f"{path}.rate")
    amplitude = parse_number(written.amplitude, f"{path}.amplitude", most=1.0)
    weekend = parse_number(written.weekend, f"{path}.weekend")
    peak = parse_duration(written.peak, f"{path}.peak")
    period = parse_positive_duration(written.period, f"{path}.period")

    def share(at: float) -> float:
        wave = 1.0 + amplitude * math.cos(2.0 * math.pi * (at - peak) / period)
        is_weekend = at // DAY_S % 7 >= _FIRST_WEEKEND_DAY
        return wave * (weekend if is_weekend else 1.0)

    most = (1.0 + amplitude) * max(1.0, weekend)
    return Arrivals(lambda stream, scale: _thin_arrivals(stream, rate * scale * most, share, most))


def _read_burst(burst: WrittenBurst, path: str) -> Arrivals:
    if burst.count < 1:
        raise ObjectError(f"{path}.count", "must be at least 1")
    first = parse_duration(burst.first, f"{path}.first")
    over = parse_duration(burst.over, f"{path}.over")
    every = parse_positive_duration(burst.every, f"{path}.every") if burst.every else 0.0
    if every and over > every:
        raise ObjectError(f"{path}.over", "is longer than every, and bursts would overlap")
    count = burst.count
    return Arrivals(
        lambda stream, scale: _bursts(stream, first, every, max(1, round(count * scale)), over)
    )


def _poisson(stream: RandomStream, rate: float) -> Iterator[Arrival]:
    at, mean = 0.0, 1.0 / rate
    while True:
        at += stream.draw_exponential(mean)
        yield Arrival(at)


def _thin_arrivals(
    stream: RandomStream, rate: float, share: Callable[[float], float], most: float
) -> Iterator[Arrival]:
    for arrival in _poisson(stream, rate):
        if stream.draw() * most < share(arrival.at):
            yield arrival


def _interval(first: float, every: float) -> Iterator[Arrival]:
    number = 0
    while True:
        yield Arrival(first + number * every)
        number += 1


def _bursts(
    stream: RandomStream, first: float, every: float, count: int, over: float
) -> Iterator[Arrival]:
    number = 0
    while True:
        begin = first + number * every
        for offset in sorted(stream.draw() * over for _ in range(count)):
            yield Arrival(begin + offset)
        number += 1
        if not every:
            return


def _replay(arrivals: Sequence[Arrival], stream: RandomStream, scale: float) -> Iterator[Arrival]:
    """Each arrival as often as the scale says, the part below one by chance."""
    whole, part = divmod(scale, 1.0)
    for arrival in arrivals:
        for _ in range(int(whole) + (bool(part) and stream.draw() < part)):
            yield arrival


# traces -----------------------------------------------------------------------------------------


def _read_trace(written: WrittenTrace, path: str, beside: str) -> Sequence[Arrival]:
    choose_one(written, ("times", "file"), path)
    if written.times is not None:
        times = [
            parse_duration(text, f"{path}.times[{at}]") for at, text in enumerate(written.times)
        ]
        return [Arrival(at) for at in sorted(times)]
    name = find_beside(written.file, beside)
    text = read_input(name, MAX_CLUSTER_BYTES).decode(errors="replace")
    return sorted(_read_rows(text, name), key=lambda arrival: arrival.at)


def _read_rows(text: str, source: str) -> Iterator[Arrival]:
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        columns = rows.fieldnames or ()
        unknown = [name for name in columns if name not in _COLUMNS]
        if "at" not in columns or unknown:
            raise InputError(
                f"its columns are {', '.join(columns) or 'missing'}",
                source=source,
                line=1,
                remedy="the first line names them: at, and if you like run_time and workload",
            )
        for row in rows:
            run_time = row.get("run_time")
            yield Arrival(
                _read_moment(row["at"], source, rows.line_num, "at"),
                _read_moment(run_time, source, rows.line_num, "run_time") if run_time else None,
                row.get("workload") or "",
            )
    except csv.Error as problem:
        raise InputError(f"is no CSV: {problem}", source=source, line=rows.line_num) from None


def _read_moment(text: str | None, source: str, line: int, column: str) -> float:
    """Seconds, with a unit or without."""
    try:
        seconds = float(text or "")
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    except ValueError:
        pass
    try:
        return parse_duration(text or "", column)
    except ObjectError as problem:
        raise InputError(
            problem.problem, source=source, line=line, path=column, remedy=problem.remedy
        ) from None


def find_beside(name: str, folder: str) -> str:
    """A file that another one names, from the folder of that one."""
    return name if name.startswith("/") or not folder else f"{folder}/{name}"
