"""Small integers for repeated values.

Columns hold numbers, not strings or sets: a value gets an id the first time it is seen and keeps
it for good, so a plugin can evaluate something once per distinct value and gather by id. Since
ids never change their meaning, what was evaluated stays true: `table` keeps it and only adds what
is new.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np

from podium.scheduler.cluster.growth import Ints

V = TypeVar("V", bound=Hashable)

_MAX_TABLES = 256


class Interner(Generic[V]):
    """Hands out ids 0, 1, 2... in order of first sight."""

    __slots__ = ("_ids", "_tables", "_values")

    def __init__(self, *known: V) -> None:
        self._ids: dict[V, int] = {}
        self._values: list[V] = []
        self._tables: dict[Hashable, Ints] = {}
        for value in known:
            self.id(value)

    def id(self, value: V) -> int:
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self._values)
            self._values.append(value)
        return found

    def find(self, value: V) -> int:
        """The id of a value, or -1 if it was never seen."""
        return self._ids.get(value, -1)

    def table(self, question: Hashable, evaluate: Callable[[V], int]) -> Ints:
        """A pure function of every value, by id; not to be written to.

        `question` names the function: a value is evaluated once for each question while its
        table is kept. The questions of the last few hundred are.
        """
        known = self._tables.pop(question, None)
        if known is None:
            known = np.zeros(0, dtype=np.int64)
            if len(self._tables) >= _MAX_TABLES:
                del self._tables[next(iter(self._tables))]
        if len(known) < len(self._values):
            fresh = [evaluate(value) for value in self._values[len(known) :]]
            known = np.concatenate((known, np.array(fresh, dtype=np.int64)))
        self._tables[question] = known
        return known

    def __getitem__(self, index: int) -> V:
        return self._values[index]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[V]:
        return iter(self._values)
