"""How large a value may be, and arithmetic that stays at the largest number instead of passing it.

A size is what `size()` says: characters, bytes, elements or entries.
"""

import math
from dataclasses import dataclass
from typing import Final

MAX_UINT64: Final = 2**64 - 1
STRING_FACTOR: Final = 0.1
"""Units for one character that is looked at."""
REGEX_FACTOR: Final = 0.25
"""Parts of a pattern for one of its characters."""


def saturated_sum(*numbers: int) -> int:
    return min(sum(numbers), MAX_UINT64)


def saturated_product(left: int, right: int) -> int:
    return min(left * right, MAX_UINT64)


def by_factor(number: int, factor: float) -> int:
    """A product with a fraction, rounded up."""
    product = number * factor
    return MAX_UINT64 if product >= 2.0**64 else math.ceil(product)


@dataclass(frozen=True, slots=True)
class Size:
    min: int
    max: int

    def plus(self, other: "Size") -> "Size":
        return Size(saturated_sum(self.min, other.min), saturated_sum(self.max, other.max))

    def times(self, other: "Size") -> "Size":
        return Size(saturated_product(self.min, other.min), saturated_product(self.max, other.max))

    def union(self, other: "Size") -> "Size":
        return Size(min(self.min, other.min), max(self.max, other.max))

    def cost(self, factor: float) -> int:
        """What walking over the largest value costs."""
        return by_factor(self.max, factor)


UNKNOWN: Final = Size(0, MAX_UINT64)
ONE: Final = Size(1, 1)


def fixed(number: int) -> Size:
    return Size(number, number)
