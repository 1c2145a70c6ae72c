"""Choosing among nodes with the same total.

Upstream leaves it to chance. Here it is a rule that a test can repeat: by name, or by numbers that
follow from a seed.
"""

from collections.abc import Sequence
from typing import Protocol

from podium.scheduler.framework.totals import BestRows


class Choice(Protocol):
    def pick(self, rows: BestRows, names: Sequence[str]) -> int:
        """One of the rows, all equally good. `names` is indexed by row."""
        ...


class FirstByName:
    """The first in alphabetical order, as recorded decisions expect."""

    def pick(self, rows: BestRows, names: Sequence[str]) -> int:
        numbers: list[int] = rows.tolist()
        return min(numbers, key=names.__getitem__)


_MASK = (1 << 64) - 1


class Seeded:
    """A splitmix64 sequence: the same seed and questions give the same answers."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = self._state = seed & _MASK

    def restart(self) -> None:
        """Give the same answers as from the beginning."""
        self._state = self._seed

    def pick(self, rows: BestRows, names: Sequence[str]) -> int:  # noqa: ARG002
        return int(rows[0] if len(rows) == 1 else rows[self._next() % len(rows)])

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)
