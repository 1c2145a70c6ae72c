"""Quantities as Kubernetes writes them.

A client that sends an API server `1000m` reads `1`, one that sends `1024Mi` reads `1Gi`, and
extenders are sent the same: what is kept is the amount and the style of the suffix (decimal,
binary, exponent), not the spelling. A spelling that already looks canonical is kept as it is, even
where it could be shorter (`1.500`).

Contract: `canonical` and `rounded_to_milli` are idempotent, and give the text that Kubernetes'
`resource.Quantity` marshals to. Texts that are no quantity come back unchanged: decoding has
refused them before, and writing is not the place to fail.

Worked example: `0.5Gi` is 536870912 bytes in binary style, so it becomes `512Mi`; `0.5Ki` is below
1024 and loses the binary style: `512`. So does `62.5Ki`, which no binary suffix fits: `64k`.
"""

import re
from typing import Final

from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.quantity import NANO_PER_MILLI, NANO_PER_UNIT, QuantityError, nano

# Most quantities are written like this, and canonical unless 1024 divides the binary ones.
_WHOLE: Final = re.compile(r"[1-9][0-9]{0,17}(?<!000)[numkMGTPE]?|([1-9][0-9]{0,4})[KMGT]i")
_SHAPE: Final = re.compile(r"[+-]?0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL_SUFFIXES: Final = {
    -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E",
}  # fmt: skip
_DECIMAL_EXPONENTS: Final = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

_DECIMAL: Final = "decimal"
_BINARY: Final = "binary"
_EXPONENT: Final = "exponent"

_COMPACT_DIGITS: Final = 18
_NANO: Final = -9


@cache_short_texts(1 << 14)
def is_canonical(text: str) -> bool:
    """Whether it is canonical at first sight, as most are; False for some that are."""
    match = _WHOLE.fullmatch(text)
    return match is not None and (match[1] is None or int(match[1]) % 1024 != 0)


def canonical(quantity: object) -> str:
    """The quantity in the spelling that Kubernetes gives it."""
    text = quantity if type(quantity) is str else str(quantity)
    return text if is_canonical(text) else _canonical(text)


def rounded_to_milli(quantity: object) -> str:
    """The same, with finer amounts rounded up to thousandths, as resource lists have them."""
    text = quantity if type(quantity) is str else str(quantity)
    return text if is_canonical(text) and text[-1] not in "nu" else _rounded_to_milli(text)


def total(first: str, second: str) -> str:
    """The sum, in the style of the first amount that is not zero."""
    amount = nano(first)
    if not amount:
        return canonical(second)
    return _write_amount(amount + nano(second), _style(first.strip()))


def product(quantity: str, multiplier: object) -> str:
    """The amount so many times, in its own style; finer amounts than 10^-9 are rounded up."""
    amount = -(-nano(quantity) * nano(str(multiplier)) // NANO_PER_UNIT)
    return _write_amount(amount, _style(quantity.strip()))


@cache_short_texts(1 << 14)
def _canonical(written: str) -> str:
    text = written.strip()
    try:
        amount = nano(text)
    except QuantityError:
        return written
    if text == "0" or _looks_canonical(text):
        return text
    return _write_amount(amount, _style(text))


@cache_short_texts(1 << 14)
def _rounded_to_milli(written: str) -> str:
    text = written.strip()
    try:
        amount = nano(text)
    except QuantityError:
        return written
    if amount % NANO_PER_MILLI == 0:
        return _canonical(text)
    magnitude = -(-abs(amount) // NANO_PER_MILLI) * NANO_PER_MILLI
    return _write_amount(magnitude if amount > 0 else -magnitude, _style(text))


def _looks_canonical(text: str) -> bool:
    # upstream: numbers that fit its fast path keep their text if the last digits and the suffix
    # leave nothing to shorten at first sight.
    match = _SHAPE.fullmatch(text)
    if match is None:
        return False
    whole, fraction, suffix = match[1] or "0", match[2] or "", match[3]
    digits = whole + fraction
    if suffix in _BINARY_SUFFIXES[1:]:
        exponent = 10 * _BINARY_SUFFIXES.index(suffix)
        compact = not fraction and 15 - len(whole) - int(exponent * 3 / 10) - 1 >= 0
        return compact and int(whole) % 8 != 0
    known = _DECIMAL_EXPONENTS.get(suffix)
    scale = (int(suffix[1:]) if known is None else known) - len(fraction)
    compact = len(digits) <= _COMPACT_DIGITS and scale >= _NANO
    return compact and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _style(text: str) -> str:
    if text.endswith("i"):
        return _BINARY
    exponent = len(text) - 1 > max(text.find("e"), text.find("E")) >= 0
    return _EXPONENT if exponent else _DECIMAL


def _write_amount(amount: int, style: str) -> str:
    """An amount in units of 10^-9, with the largest suffix of its style that loses nothing."""
    if not amount:
        return "0"
    if style == _BINARY:
        units, rest = divmod(abs(amount), NANO_PER_UNIT)
        # upstream: what no binary suffix fits is written plain, and read back as a decimal amount
        # as soon as it has been stored once.
        if not rest and units and units % 1024 == 0:
            return _in_binary(units, "-" if amount < 0 else "")
    digits, exponent = amount, -9
    while digits % 10 == 0:
        digits //= 10
        exponent += 1
    while exponent % 3:
        digits *= 10
        exponent -= 1
    if style == _EXPONENT:
        return f"{digits}e{exponent}" if exponent else str(digits)
    # upstream: an exponent beyond the suffixes leaves none at all.
    return f"{digits}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def _in_binary(units: int, sign: str) -> str:
    power = 0
    while units % 1024 == 0:
        units //= 1024
        power += 1
    suffix = _BINARY_SUFFIXES[power] if power < len(_BINARY_SUFFIXES) else ""
    return f"{sign}{units}{suffix}"
