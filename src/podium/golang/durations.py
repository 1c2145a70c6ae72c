"""Durations in Go's notation, `1m30.5s`: configuration, flags, messages and CEL write them so.

The text form is a contract in both directions, since the effective configuration is printed back
in Go's canonical spelling, and the refusals are Go's own words.
"""

import re
from typing import Final

import msgspec

_NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, micro sign
    "μs": 1_000,  # U+03BC, Greek mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MAX_NANOSECONDS: Final = 2**63 - 1
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


class DurationError(ValueError):
    """The text is not a duration; the message is Go's."""


class Duration(msgspec.Struct, frozen=True, order=True):
    """A signed length of time in whole nanoseconds."""

    nanoseconds: int = 0

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Read Go's notation: one or more decimal numbers, each with a unit; or `0`.

        >>> Duration.parse("1m30.5s").seconds
        90.5
        """
        unsigned = text[1:] if text[:1] in ("-", "+") else text
        if unsigned == "0":
            return cls(0)
        if not unsigned:
            raise DurationError(f"time: invalid duration {_quoted(text)}")
        total = at = 0
        while at < len(unsigned):
            part = _PART.match(unsigned, at)
            if part is None or not (part[1] or part[2]):
                raise DurationError(f"time: invalid duration {_quoted(text)}")
            # Digits beyond these cannot matter: too large for Go, or below a nanosecond.
            whole, fraction, unit = part[1].lstrip("0"), (part[2] or "")[:18], part[3]
            if len(whole) > 19:
                raise DurationError(f"time: invalid duration {_quoted(text)}")
            if not unit:
                raise DurationError(f"time: missing unit in duration {_quoted(text)}")
            if unit not in _NANOSECONDS:
                raise DurationError(
                    f"time: unknown unit {_quoted(unit)} in duration {_quoted(text)}"
                )
            scale = _NANOSECONDS[unit]
            total += int(whole or "0") * scale
            if fraction:
                total += int(fraction) * scale // 10 ** len(fraction)
            at = part.end()
        # Go's smallest duration has no positive counterpart.
        limit = _MAX_NANOSECONDS + (1 if text.startswith("-") else 0)
        if total > limit:
            raise DurationError(f"time: invalid duration {_quoted(text)}")
        return cls(-total if text.startswith("-") else total)

    @classmethod
    def of_seconds(cls, seconds: float) -> "Duration":
        """To the nearest nanosecond."""
        return cls(round(seconds * _NANOSECONDS["s"]))

    @property
    def seconds(self) -> float:
        return self.nanoseconds / _NANOSECONDS["s"]

    def __str__(self) -> str:
        """Go's canonical form: `10m0s`, `1m30.5s`, `500ms`, `0s`."""
        if self.nanoseconds == 0:
            return "0s"
        sign = "-" if self.nanoseconds < 0 else ""
        size = abs(self.nanoseconds)
        for unit in ("ns", "µs", "ms"):
            if size < _NANOSECONDS[unit] * 1000:
                return f"{sign}{_decimal(size, _NANOSECONDS[unit])}{unit}"
        minutes, below_minute = divmod(size, _NANOSECONDS["m"])
        text = f"{_decimal(below_minute, _NANOSECONDS['s'])}s"
        if minutes:
            hours, minutes = divmod(minutes, 60)
            text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
        return sign + text


def _decimal(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"


def _quoted(text: str) -> str:
    """As Go's time package quotes, which knows bytes and no letters beyond ASCII."""
    data = text.encode(errors="surrogatepass")
    letters = (chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}" for byte in data)
    return '"' + "".join(f"\\{c}" if c in '"\\' else c for c in letters) + '"'
