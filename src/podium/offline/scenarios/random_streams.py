"""Chance in scenarios: a stream of numbers for every cause, so that one does not shift another.

A stream follows from the seed and the names of what it is for. Of Python's generator only `random`
gives the same numbers in every release, so everything else is made from it here.
"""

import math
import random
from hashlib import sha256


class Stream:
    """Numbers for one cause."""

    def __init__(self, seed: int, *names: str) -> None:
        text = "\0".join((str(seed), *names))
        self._random = random.Random(int.from_bytes(sha256(text.encode()).digest()[:8])).random

    def draw(self) -> float:
        """From 0 up to, and without, 1."""
        return self._random()

    def draw_exponential(self, mean: float) -> float:
        return -mean * math.log(1.0 - self._random())

    def draw_normal(self) -> float:
        """With mean 0 and deviation 1 (Box and Muller)."""
        size = math.sqrt(-2.0 * math.log(1.0 - self._random()))
        return size * math.cos(2.0 * math.pi * self._random())

    def draw_index(self, count: int) -> int:
        """A number below `count`."""
        return min(int(self._random() * count), count - 1)
