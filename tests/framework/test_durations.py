"""Durations as Go writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.framework.durations import go_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (1, "1s"),
        (300, "5m0s"),
        (900, "15m0s"),
        (3600, "1h0m0s"),
        (5400.5, "1h30m0.5s"),
        (0.25, "250ms"),
        (0.0015, "1.5ms"),
        (0.000002, "2µs"),
        (0.0000005, "500ns"),
        (1.5, "1.5s"),
        (61.001, "1m1.001s"),
        (-2, "-2s"),
        (100 * 3600, "100h0m0s"),
    ],
)
def test_durations_read_as_in_go(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text


def spelled(nanos: int) -> str:
    """The rule over whole nanoseconds."""
    for per_unit, unit in ((1, "ns"), (1000, "µs"), (1_000_000, "ms")):
        if nanos < per_unit * 1000:
            return f"{decimal(nanos, per_unit)}{unit}" if nanos else "0s"
    minutes, rest = divmod(nanos, 60 * 10**9)
    text = f"{decimal(rest, 10**9)}s"
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60}m{text}"
    return f"{minutes}m{text}" if minutes else text


def decimal(amount: int, per_unit: int) -> str:
    whole, part = divmod(amount, per_unit)
    digits = f"{part:0{len(str(per_unit)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


@given(
    nanos=st.integers(0, 10**6)
    | st.integers(0, 10**10)
    | st.integers(0, 9 * 10**6).map((10**9).__mul__)
)
def test_whole_nanoseconds_are_spelled_exactly(nanos: int) -> None:
    assert go_duration(nanos / 1e9) == spelled(nanos)
