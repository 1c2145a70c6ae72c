"""Texts and numbers with a grammar: quantities and times.

Go's types read these with code of their own, which has its own error texts, and write them back in
one form. `canonical_*` gives that form or raises ScalarError with Go's text.
"""

import re
from datetime import UTC, datetime
from typing import Final

from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.quantity import QuantityError, nano
from podium.kubernetes.rules.quantity_spelling import canonical, is_canonical

_QUANTITY: Final = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SUFFIX: Final = re.compile(r"|[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+")
_BAD_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"
_BAD_NUMBER: Final = "unable to parse numeric part of quantity"

_SECONDS_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICROS_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_STEPS: Final = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"\d{4}", "2006"), (r"-", "-"), (r"\d\d", "01"), (r"-", "-"), (r"\d\d", "02"),
        (r"T", "T"), (r"\d\d", "15"), (r":", ":"), (r"\d\d", "04"), (r":", ":"), (r"\d\d", "05"),
    )
)  # fmt: skip
_ZONE: Final = re.compile(r"Z|[+-]\d\d:\d\d")
_FRACTION: Final = re.compile(r"[.,]\d+")
_MICROS: Final = re.compile(r"\.\d{6}")


class ScalarError(ValueError):
    """A text that its type does not take; the message is Go's."""


def canonical_quantity(written: str) -> str:
    return written if is_canonical(written) else _respelt_quantity(written)


@cache_short_texts(1 << 14)
def _respelt_quantity(written: str) -> str:
    text = written.strip()
    if not text:
        raise ScalarError(_BAD_QUANTITY)
    try:
        nano(text)
    except QuantityError:
        match = _QUANTITY.fullmatch(text)
        if match is None or not (match[1] or match[2] or match[3]):
            raise ScalarError(_BAD_QUANTITY) from None
        if _SUFFIX.fullmatch(match[3]) is None:
            raise ScalarError(_BAD_SUFFIX) from None
        raise ScalarError(_BAD_NUMBER) from None
    return canonical(text)


@cache_short_texts(1 << 12)
def canonical_time(written: str) -> str:
    """To the second and in UTC."""
    return _moment(written, _SECONDS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


@cache_short_texts(1 << 12)
def canonical_micro_time(written: str) -> str:
    """To the microsecond and in UTC."""
    return _moment(written, _MICROS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _moment(written: str, layout: str) -> datetime:
    rest = written
    for pattern, shown in _STEPS:
        rest = _without(pattern, shown, rest, written, layout)
    if layout is _MICROS_LAYOUT:
        rest = _without(_MICROS, ".000000", rest, written, layout)
    elif fraction := _FRACTION.match(rest):
        rest = rest[fraction.end() :]
    rest = _without(_ZONE, "Z07:00", rest, written, layout)
    if rest:
        raise ScalarError(f'{_head(written, layout)}: extra text: "{rest}"')
    _refuse_out_of_range(written)
    text = _FRACTION.sub(lambda found: "." + found[0][1:7].ljust(6, "0"), written, count=1)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ScalarError(f'parsing time "{written}": day out of range') from None


def _without(pattern: re.Pattern[str], shown: str, rest: str, written: str, layout: str) -> str:
    found = pattern.match(rest)
    if found is None:
        raise ScalarError(f'{_head(written, layout)}: cannot parse "{rest}" as "{shown}"')
    return rest[found.end() :]


def _head(written: str, layout: str) -> str:
    return f'parsing time "{written}" as "{layout}"'


def _refuse_out_of_range(written: str) -> None:
    for name, start, lowest, highest in (
        ("month", 5, 1, 12), ("hour", 11, 0, 23), ("minute", 14, 0, 59), ("second", 17, 0, 59),
    ):  # fmt: skip
        if not lowest <= int(written[start : start + 2]) <= highest:
            raise ScalarError(f'parsing time "{written}": {name} out of range')
