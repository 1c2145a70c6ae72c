"""Go's `math/rand` with a seed, so that runs of the study draw what Go drew.

An additive lagged Fibonacci generator: each value is the sum of those 607 and 273 before it, modulo
2**64. A seed fills the 607 values from a small linear generator, mixed with a constant table. That
table is what the same generator holds after 7.8e12 steps from seed 1; it is worked out here by
squaring polynomials, which takes some milliseconds, and not written down.

upstream: `math/rand` of Go (`Seed`, `Int63`, `Intn`, `Shuffle`, `Perm`).
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

LENGTH: Final = 607
TAP: Final = 273
_FEED: Final = LENGTH - TAP
_TABLE_STEPS: Final = 7_800_000_000_000
_MODULUS: Final = 2**31 - 1
_MULTIPLIER: Final = 48271
_WARM_UP: Final = 20
_MASK_63: Final = 2**63 - 1
_MASK_64: Final = 2**64 - 1

Words = npt.NDArray[np.uint64]


class GoRandom:
    """A generator with a seed; draws as Go's does, in the same order."""

    def __init__(self, seed: int) -> None:
        self.values: list[int] = seeded_values(seed).tolist()
        """The last 607 values; new ones are written from the end down, over the oldest."""
        self.tap = 0

    def copy(self) -> "GoRandom":
        other = object.__new__(GoRandom)
        other.values, other.tap = self.values.copy(), self.tap
        return other

    def int63(self) -> int:
        tap = self.tap = (self.tap or LENGTH) - 1
        feed = tap - TAP if tap >= TAP else tap + _FEED
        value = self.values[feed] = (self.values[feed] + self.values[tap]) & _MASK_64
        return value & _MASK_63

    def below(self, bound: int) -> int:
        """`Intn`: a number from 0 to `bound` - 1, by the remainder of 31 bits."""
        if bound & (bound - 1) == 0:
            return (self.int63() >> 32) & (bound - 1)
        highest = 2**31 - 1 - 2**31 % bound
        while (drawn := self.int63() >> 32) > highest:
            pass
        return drawn % bound

    def below_by_product(self, bound: int) -> int:
        """What `Shuffle` draws with: the upper half of 32 bits times the bound."""
        product = (self.int63() >> 31) * bound
        if product & 0xFFFFFFFF < bound:
            rejected = (2**32 - bound) % bound
            while product & 0xFFFFFFFF < rejected:
                product = (self.int63() >> 31) * bound
        return product >> 32

    def shuffle(self, items: list[int]) -> None:
        for last in range(len(items) - 1, 0, -1):
            partner = self.below_by_product(last + 1)
            items[last], items[partner] = items[partner], items[last]

    def permutation(self, length: int) -> list[int]:
        numbers = [0] * length
        for index in range(length):
            partner = self.below(index + 1)
            numbers[index] = numbers[partner]
            numbers[partner] = index
        return numbers


def seeded_values(seed: int) -> Words:
    """The 607 values before the first one drawn, in the order of Go's array."""
    drawn = _linear_generator(seed % _MODULUS or 89482311, 3 * LENGTH)
    mixed = drawn[0::3] << np.uint64(40) ^ drawn[1::3] << np.uint64(20) ^ drawn[2::3]
    values: Words = mixed ^ constant_table()
    return values


@cache
def constant_table() -> Words:
    """What every seed is mixed with."""
    drawn = _linear_generator(1, 3 * LENGTH)
    start = _oldest_first(drawn[0::3] << np.uint64(20) ^ drawn[1::3] << np.uint64(10) ^ drawn[2::3])
    return _oldest_first(_step_ahead(start, _TABLE_STEPS), _TABLE_STEPS)


def _linear_generator(seed: int, count: int) -> Words:
    values = []
    value = seed
    for _ in range(_WARM_UP + count):
        value = value * _MULTIPLIER % _MODULUS
        values.append(value)
    return np.array(values[_WARM_UP:], np.uint64)


def _oldest_first(array: Words, steps: int = 0) -> Words:
    """Go's array, which is written from index 333 down and around, in the order of time; and back,
    after so many steps."""
    return array[(_FEED - 1 - steps - np.arange(LENGTH)) % LENGTH]


def _next_block(values: Words) -> Words:
    """The next 273 values, which need none of each other; `values` moves on past them."""
    block: Words = values[:TAP] + values[LENGTH - TAP :]
    values[:-TAP] = values[TAP:].copy()
    values[-TAP:] = block
    return block


def _step_ahead(values: Words, steps: int) -> Words:
    """The values after so many steps: x**steps modulo x**607 - x**334 - 1, applied to them."""
    power = np.zeros(LENGTH, np.uint64)
    power[0] = 1
    for bit in bin(steps)[2:]:
        power = _reduce(_square(power))
        if bit == "1":
            power = _reduce(np.concatenate((np.zeros(1, np.uint64), power)))
    coming = values.copy()
    longer = np.concatenate([values, *(_next_block(coming) for _ in range(3))])
    ahead = [(power * longer[k : k + LENGTH]).sum(dtype=np.uint64) for k in range(LENGTH)]
    return np.array(ahead, np.uint64)


def _square(power: Words) -> Words:
    product = np.zeros(2 * LENGTH - 1, np.uint64)
    for degree in np.flatnonzero(power):
        product[degree : degree + LENGTH] += power[degree] * power
    return product


def _reduce(product: Words) -> Words:
    """x**(607 + k) is x**(334 + k) + x**k; 273 of the highest at a time need none of each other."""
    product = product.copy()
    end = len(product)
    while end > LENGTH:
        start = max(LENGTH, end - TAP)
        highest = product[start:end].copy()
        product[start - TAP : end - TAP] += highest
        product[start - LENGTH : end - LENGTH] += highest
        end = start
    return product[:LENGTH]
