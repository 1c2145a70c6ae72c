"""Columns that grow together.

Every per-node array of the cluster has the same capacity. A row beyond it doubles them all at
once, so that a reader can combine any two columns without asking for their lengths.
"""

from typing import TYPE_CHECKING, TypeVar

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
