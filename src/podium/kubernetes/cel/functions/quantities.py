"""Kubernetes quantities as CEL values: `device.capacity["d"].memory.compareTo(quantity("40Gi"))`.

Arithmetic is exact, in units of 10^-9 like everywhere else in Podium.
"""

import re

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.library import Functions, parsing_cost
from podium.kubernetes.cel.values import INT64_MAX, INT64_MIN, Opaque
from podium.kubernetes.kinds.meta import Quantity as Written
from podium.kubernetes.rules.quantity import NANO_PER_UNIT, QuantityError, nano

QUANTITIES = Functions()
_define = QUANTITIES.define

_SHAPE = re.compile(r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)")
_NOT_A_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BAD_SUFFIX = "unable to parse quantity's suffix"
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_FRACTIONS = frozenset({"n", "u", "m"})


class Quantity(Opaque):
    """An amount; `computed` marks the result of an addition or subtraction."""

    __slots__ = ("computed", "nano", "whole")
    TYPE_NAME = "kubernetes.Quantity"

    def __init__(self, amount: int, *, whole: bool, computed: bool = False) -> None:
        self.nano = amount
        self.whole = whole
        self.computed = computed

    def same(self, other: "Quantity") -> bool:
        if other.computed:
            # upstream: a sum or difference has another Go type and is refused on the right
            raise no_such_overload()
        return self.nano == other.nano

    def __lt__(self, other: "Quantity") -> bool:
        return self.nano < other.nano


def quantity_of(written: Written) -> Quantity:
    """A quantity as written in an object; raises QuantityError."""
    return Quantity(nano(written), whole=_is_whole(str(written).strip()))


def _is_whole(text: str) -> bool:
    """Whether upstream holds the number as a plain int64, the only kind it calls an integer.

    upstream: `1.0` and `1000m` are no integers, and neither is what is too long for the compact
    form, such as `1Pi`.
    """
    match = _SHAPE.fullmatch(text)
    if match is None or "." in match[1] or match[2] in _FRACTIONS or "-" in match[2]:
        return False
    digits = len(match[1].lstrip("+-0")) or 1
    binary = _BINARY_EXPONENTS.get(match[2])
    if binary is not None:
        return 15 - digits - binary * 3 // 10 - 1 >= 0
    return digits <= 18 and INT64_MIN <= nano(text) // NANO_PER_UNIT <= INT64_MAX


@_define("quantity(string) -> quantity", cost=parsing_cost)
def _quantity(text: str) -> Quantity:
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise CelError(_NOT_A_QUANTITY)
    try:
        return quantity_of(text)
    except QuantityError:
        raise CelError(_NOT_A_QUANTITY if match[1].count(".") > 1 else _BAD_SUFFIX) from None


@_define("isQuantity(string) -> bool", cost=parsing_cost)
def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except CelError:
        return False
    return True


@_define("sign(quantity) -> int")
def _sign(quantity: Quantity) -> int:
    return (quantity.nano > 0) - (quantity.nano < 0)


@_define("(quantity).isGreaterThan(quantity) -> bool")
def _is_greater(left: Quantity, right: Quantity) -> bool:
    return left.nano > right.nano


@_define("(quantity).isLessThan(quantity) -> bool")
def _is_less(left: Quantity, right: Quantity) -> bool:
    return left.nano < right.nano


@_define("(quantity).compareTo(quantity) -> int")
def _compare(left: Quantity, right: Quantity) -> int:
    return (left.nano > right.nano) - (left.nano < right.nano)


@_define("(quantity).asApproximateFloat() -> double")
def _as_float(quantity: Quantity) -> float:
    return quantity.nano / NANO_PER_UNIT


@_define("(quantity).isInteger() -> bool")
def _is_integer(quantity: Quantity) -> bool:
    return quantity.whole


@_define("(quantity).asInteger() -> int")
def _as_integer(quantity: Quantity) -> int:
    if not quantity.whole:
        raise CelError("cannot convert value to integer")
    return quantity.nano // NANO_PER_UNIT


@_define("(quantity).add(quantity) -> quantity")
def _add(left: Quantity, right: Quantity) -> Quantity:
    return _make_quantity(left.nano + right.nano)


@_define("(quantity).add(int) -> quantity")
def _add_int(left: Quantity, right: int) -> Quantity:
    return _make_quantity(left.nano + right * NANO_PER_UNIT)


@_define("(quantity).sub(quantity) -> quantity")
def _subtract(left: Quantity, right: Quantity) -> Quantity:
    return _make_quantity(left.nano - right.nano)


@_define("(quantity).sub(int) -> quantity")
def _subtract_int(left: Quantity, right: int) -> Quantity:
    return _make_quantity(left.nano - right * NANO_PER_UNIT)


def _make_quantity(amount: int) -> Quantity:
    whole, rest = divmod(amount, NANO_PER_UNIT)
    return Quantity(amount, whole=not rest and INT64_MIN <= whole <= INT64_MAX, computed=True)
