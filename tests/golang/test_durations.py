import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.durations import Duration, DurationError


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("0", "0s"),
        ("0s", "0s"),
        ("10m", "10m0s"),
        ("1m30.5s", "1m30.5s"),
        ("90s", "1m30s"),
        ("1h", "1h0m0s"),
        ("500ms", "500ms"),
        ("1500us", "1.5ms"),
        ("1500µs", "1.5ms"),
        ("7ns", "7ns"),
        (".5s", "500ms"),
        ("-5s", "-5s"),
        ("+5s", "5s"),
        ("1h1ns", "1h0m0.000000001s"),
        ("-9223372036854775808ns", "-2562047h47m16.854775808s"),
    ],
)
def test_is_printed_back_in_gos_form(written: str, canonical: str) -> None:
    assert str(Duration.parse(written)) == canonical


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("15 sec", 'time: unknown unit " sec" in duration "15 sec"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("15", 'time: missing unit in duration "15"'),
        ("1.5.5s", 'time: missing unit in duration "1.5.5s"'),
        ("soon", 'time: invalid duration "soon"'),
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        (".s", 'time: invalid duration ".s"'),
        ("9999999999h", 'time: invalid duration "9999999999h"'),
        ("\ud800", 'time: invalid duration "\\xed\\xa0\\x80"'),
        ("9" * 5000 + "s", f'time: invalid duration "{"9" * 5000}s"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
    ],
)
def test_refuses_in_gos_words(written: str, text: str) -> None:
    with pytest.raises(DurationError) as refused:
        Duration.parse(written)
    assert str(refused.value) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_what_is_printed_reads_back_as_the_same(nanoseconds: int) -> None:
    duration = Duration(nanoseconds)
    assert Duration.parse(str(duration)) == duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(300, "5m0s"), (5400.5, "1h30m0.5s"), (0.0015, "1.5ms"), (61.001, "1m1.001s"), (-2, "-2s")],
)
def test_seconds_are_kept_to_the_nanosecond(seconds: float, text: str) -> None:
    assert str(Duration.of_seconds(seconds)) == text
