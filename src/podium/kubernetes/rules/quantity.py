"""Resource quantities as exact integers.

Scheduling adds and compares quantities before it rounds them, and rounds once per pod and
resource, so a float or an early `ceil` would give another answer than kube-scheduler. Every
quantity becomes one Python int in units of 10^-9, the finest step Kubernetes knows; `value` and
`milli_value` are the two roundings (always up) that leave this representation.

Contract: whatever fits an int64 is exact. What does not fit gives the number upstream's int64
arithmetic ends up with, which depends on how the quantity was written
(`staging/src/k8s.io/apimachinery/pkg/api/resource`).

Worked example: `1500u` is 1_500_000 nano, its value is 1 and its milli value is 2.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from podium.golang.arithmetic import INT64_MAX, INT64_MIN, wrap_int64
from podium.kubernetes.kinds.meta import Quantity

NANO_PER_UNIT = 10**9
NANO_PER_MILLI = 10**6

# Longer texts and larger exponents name no amount of anything; refusing them keeps a hostile
# document from asking for gigabytes of digits.
_MAX_TEXT = 1000
_MAX_EXPONENT = 1000

# A whole number with one suffix, as nearly every quantity is written.
_WHOLE = re.compile(r"([0-9]{1,18})([numkMGTPE]|[KMGTPE]i|)")
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")

_DECIMAL_SUFFIXES = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO_PER_SUFFIX = {
    **{suffix: 10 ** (9 + power) for suffix, power in _DECIMAL_SUFFIXES.items()},
    **{suffix: NANO_PER_UNIT << power for suffix, power in _BINARY_SUFFIXES.items()},
}

# Scale differences upstream multiplies in one step, keeping the wrapped product; every other
# difference is multiplied digit by digit and gives 0 at the first overflow.
_WRAPPING_SCALES = frozenset({1, 2, 3, 6, 9})


class QuantityError(ValueError):
    """A text that is no quantity; the message names the text and what is wrong with it."""

    def __init__(self, text: object, problem: str) -> None:
        super().__init__(f"quantity {text!r}: {problem}")


class _Parsed(NamedTuple):
    """`scale` is the decimal exponent of upstream's compact form, an int64 and a scale; None
    stands for its big decimal form."""

    nano: int
    value: int
    milli: int
    scale: int | None


def nano(quantity: Quantity) -> int:
    """The quantity in units of 10^-9; finer amounts are rounded away from zero."""
    return _parse(quantity if type(quantity) is str else _text_of(quantity)).nano


class Amount(int):
    """`nano` units that remember upstream's form of them, on which sums beyond int64 depend.

    Compact amounts are added at the smaller of their scales; a sum that does not fit an int64
    there becomes a big decimal, and stays one.
    """

    scale: int | None

    def __new__(cls, size: int, scale: int | None) -> "Amount":
        made = super().__new__(cls, size)
        made.scale = scale
        return made

    def __add__(self, other: int) -> "Amount":
        total = int(self) + int(other)
        if not isinstance(other, Amount):
            return Amount(total, self.scale)
        if self.scale is None or other.scale is None:
            return Amount(total, None)
        if not self or not other:
            return Amount(total, self.scale if self else other.scale)
        scale = min(self.scale, other.scale)
        mantissa = total // 10 ** (9 + scale)
        return Amount(total, scale if INT64_MIN <= mantissa <= INT64_MAX else None)

    __radd__ = __add__


def amount_of(quantity: Quantity) -> Amount:
    """`nano` for sums that may be larger than an int64."""
    parsed = _parse(quantity if type(quantity) is str else _text_of(quantity))
    return Amount(parsed.nano, parsed.scale)


def value(quantity: Quantity) -> int:
    """The quantity as an int64 number of whole units, rounded up."""
    return _parse(quantity if type(quantity) is str else _text_of(quantity)).value


def milli_value(quantity: Quantity) -> int:
    """The quantity as an int64 number of thousandths, rounded up."""
    return _parse(quantity if type(quantity) is str else _text_of(quantity)).milli


def is_negative(quantity: str) -> bool:
    """Whether it is below zero; reads no further than the sign of most."""
    return "-" in quantity and nano(quantity) < 0


def value_of_nano(amount: int) -> int:
    """A sum of `nano` amounts in whole units, rounded up. One that is no int64 must be an Amount
    to become what upstream makes of it."""
    return _round_up(amount, 0, amount.scale if isinstance(amount, Amount) else None)


def milli_of_nano(amount: int) -> int:
    """A sum of `nano` amounts in thousandths, rounded up, likewise."""
    return _round_up(amount, -3, amount.scale if isinstance(amount, Amount) else None)


def _text_of(quantity: object) -> str:
    """The text that JSON would show for a number, so that one grammar judges all spellings."""
    if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
        raise QuantityError(quantity, "neither a text nor a number")
    return quantity if isinstance(quantity, str) else repr(quantity)


@lru_cache(maxsize=1 << 14)
def _parse(written: str) -> _Parsed:
    match = _WHOLE.fullmatch(written)
    if match is None:
        return _parse_any(written)
    suffix = match[2]
    size = int(match[1]) * _NANO_PER_SUFFIX[suffix]
    milli = -(-size // NANO_PER_MILLI)
    if milli > INT64_MAX:  # the result depends on how upstream got there
        return _parse_any(written)
    binary = suffix in _BINARY_SUFFIXES
    exponent = _BINARY_SUFFIXES[suffix] if binary else _DECIMAL_SUFFIXES[suffix]
    compact = _is_compact(match[1].lstrip("0") or "0", "", exponent, binary=binary)
    scale = (0 if binary else exponent) if compact else None
    return _Parsed(size, -(-size // NANO_PER_UNIT), milli, scale)


def _parse_any(written: str) -> _Parsed:
    # Spaces around it count: what is remembered for a text must not be larger than a few of them.
    if len(written) > _MAX_TEXT:
        raise QuantityError(f"{written[:40]}...", f"longer than {_MAX_TEXT} characters")
    text = written.strip()
    if not text:
        raise QuantityError(written, "empty; write a number such as 500m, 2 or 1Gi")
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise QuantityError(
            written,
            "not of the form <number><suffix>, such as 500m, 2 or 1Gi "
            "(suffixes: n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent like e3)",
        )
    sign, whole, fraction, suffix = match[1], match[2].lstrip("0") or "0", match[3] or "", match[4]
    binary = suffix in _BINARY_SUFFIXES
    exponent = _BINARY_SUFFIXES[suffix] if binary else _decimal_exponent(written, suffix)
    digits = int(whole + fraction)
    compact = _is_compact(whole, fraction, exponent, binary=binary)
    if not compact and not match[2] and not match[3]:
        raise QuantityError(written, "has a suffix but no number")

    size = _nano_of(digits, len(fraction), exponent, binary=binary)
    capped = binary and size > INT64_MAX * NANO_PER_UNIT
    if capped:
        size = INT64_MAX * NANO_PER_UNIT
    if sign == "-":
        size = -size
    scale = (0 if binary else exponent - len(fraction)) if compact else None
    return _Parsed(size, _round_up(size, 0, scale), _round_up(size, -3, scale), scale)


def _decimal_exponent(written: str, suffix: str) -> int:
    known = _DECIMAL_SUFFIXES.get(suffix)
    if known is not None:
        return known
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise QuantityError(
            written,
            f"unknown suffix {suffix!r}; case matters, and the suffixes are n u m k M G T P E, "
            "Ki Mi Gi Ti Pi Ei, or an exponent like e3",
        )
    exponent = int(match[1])
    if exponent > _MAX_EXPONENT:
        raise QuantityError(written, f"exponent {exponent} is too large")
    # Text is at most 1000 digits long: below -2000 every non-zero number is "one nano" anyway.
    return max(exponent, -2 * _MAX_EXPONENT)


def _is_compact(whole: str, fraction: str, exponent: int, *, binary: bool) -> bool:
    """Whether upstream keeps the number as an int64 mantissa and a scale (its fast path)."""
    if binary:
        return not fraction and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0
    return len(whole) + len(fraction) <= 18 and exponent - len(fraction) >= -9


def _nano_of(digits: int, fraction_digits: int, exponent: int, *, binary: bool) -> int:
    power = 9 - fraction_digits
    if binary:
        digits <<= exponent
    else:
        power += exponent
    factor: int = 10 ** abs(power)
    return digits * factor if power >= 0 else -(-digits // factor)


def _round_up(size: int, target: int, scale: int | None) -> int:
    """`size` nano at 10^target, rounded up, or what upstream's int64 makes of it.

    `scale` is the decimal exponent of upstream's compact form, None for its big decimal form,
    whose conversion keeps the low 64 bits.
    """
    exact: int = -(-size // 10 ** (9 + target))
    if INT64_MIN <= exact <= INT64_MAX:
        return exact
    if scale is None or scale - target in _WRAPPING_SCALES:
        return wrap_int64(exact)
    return 0
