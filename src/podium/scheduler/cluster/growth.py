"""Columns that grow together, numbers for repeated values, and which rows changed when.

Every per-node array of the cluster has the same capacity. A row beyond it doubles them all at
once, so that a reader can combine any two columns without asking for their lengths.

Small integers for repeated values. Columns hold numbers, not strings or sets: a value gets an id
the first time it is seen and keeps it for good, so a plugin can evaluate something once per
distinct value and gather by id. Since ids never change their meaning, what was evaluated stays
true: `table` keeps it and only adds what is new.

Which rows changed since some moment, for as far back as anybody needs to know. A moment is a
generation: the number of changes so far. A vector that was right at a generation is brought up to
date by the rows logged after it; one that is too old is made anew.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    RowSlice = slice[int, int, int | None]
else:
    RowSlice = slice

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Rows = RowSlice | npt.NDArray[np.intp]
"""Rows a plugin answers for: the slice of the whole table, or an index array of any subset."""

T = TypeVar("T", bound="np.generic[object]")

FIRST_CAPACITY = 64


def wider(column: npt.NDArray[T], capacity: int, fill: int = 0) -> npt.NDArray[T]:
    """A copy of a column (rows on the last axis) with room for `capacity` rows."""
    grown = np.full((*column.shape[:-1], capacity), fill, dtype=column.dtype)
    grown[..., : column.shape[-1]] = column
    return grown


def next_capacity(current: int, needed: int) -> int:
    capacity = max(current, FIRST_CAPACITY)
    while capacity < needed:
        capacity *= 2
    return capacity


def count_of(rows: Rows) -> int:
    """How many rows a `Rows` value stands for."""
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def indices(rows: Rows) -> npt.NDArray[np.intp]:
    """The row numbers as an array, whichever form they came in."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


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


MAX_LOGGED = 8192


class ChangeLog:
    __slots__ = ("_rows", "generation")

    def __init__(self, generation: int = 0) -> None:
        self.generation = generation
        self._rows: list[int] = []

    def note(self, row: int) -> int:
        """Log a change and give its generation."""
        self.generation += 1
        self._rows.append(row)
        if len(self._rows) > 2 * MAX_LOGGED:
            del self._rows[:MAX_LOGGED]
        return self.generation

    def since(self, generation: int) -> list[int] | None:
        """Rows changed after a generation, possibly repeated; None if that is forgotten."""
        missing = self.generation - generation
        if missing == 0:
            return []
        return self._rows[-missing:] if missing <= len(self._rows) else None
