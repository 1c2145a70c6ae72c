"""Many kinds of pods in turn: several resources in one array each, rows grouped by conditions.

When pods of many kinds come in turn, what is remembered of each kind is some hundred rows old, and
numpy's calls cost more than its arithmetic. Resources that stand side by side in the tables (cpu
and memory do) are then taken out and computed with together. That is possible where every node has
all of them and amounts are small enough for exact divisions in floating point; everything else
goes the way of `columns.py`, which says the same resource by resource.

Rows grouped by which of several conditions hold for them. Some answers depend on a combination:
which resources a node lacks, which of them count. There are few combinations and many rows, so rows
are numbered by combination and each is looked at once.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.kubernetes.rules.requests import is_scalar
from podium.scheduler.cluster.growth import Ints, Mask, RowSlice
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage

Floats = npt.NDArray[np.float64]

MAX_ROWS = 2048
"""Beyond that the arithmetic counts, and buffers that are used again."""

FLOAT_EXACT_BELOW = 2**44
"""Percentages of amounts below this come out of float64 division exactly as out of int64.

The quotient is at most 100, so it is rounded by at most 2^-47, while a quotient that is no integer
keeps a distance of 1/amount > 2^-44 from the next one. 2^44 bytes are 16 TiB.
"""


class Stack(NamedTuple):
    """One line a resource, one column a row; requests are the same for all rows."""

    requests: Ints
    allocatable: Ints
    used: Ints
    divisor: Floats


class ResourceStacks:
    """The configured resources as far as they can be stacked."""

    def __init__(self, names: Sequence[str], nodes: NodeTable, *, nonzero: bool) -> None:
        self._names = tuple(names)
        self._nodes = nodes
        self._nonzero = nonzero
        self._seen = -1
        self._lines: RowSlice | None = None
        self._divisor: Floats = np.zeros((0, 0), dtype=np.float64)

    def of(
        self, usage: Usage, rows: npt.NDArray[np.intp], requests: Mapping[str, int]
    ) -> Stack | None:
        """Some rows; None where resources have to be looked at one by one."""
        if self._seen != self._nodes.generation:
            self._seen = self._nodes.generation
            self._look_again()
        lines = self._lines
        if lines is None:
            return None
        usage.grow()
        table = usage.nonzero if self._nonzero else usage.requested
        return Stack(
            np.array([[requests.get(name, 0)] for name in self._names], dtype=np.int64),
            self._nodes.allocatable[lines].take(rows, axis=1),
            table[lines].take(rows, axis=1),
            self._divisor.take(rows, axis=1),
        )

    def _look_again(self) -> None:
        """A node has changed: are there still resources that are together and are everywhere?"""
        self._lines = None
        if any(map(is_scalar, self._names)):
            return
        lines = lines_of([self._nodes.resources.find(name) for name in self._names])
        if lines is None or (self._nonzero and lines.stop > 2):
            return
        nodes = self._nodes
        amounts = nodes.allocatable[lines]
        shown = amounts[:, : nodes.size][:, nodes.present[: nodes.size]]
        if shown.size and shown.min() > 0 and shown.max() < FLOAT_EXACT_BELOW:
            self._lines = lines
            self._divisor = amounts.astype(np.float64)
            self._divisor[amounts == 0] = 1.0


def lines_of(indices: Sequence[int]) -> "RowSlice | None":
    """The lines of a table as one piece of it, if they are one."""
    if not indices or indices[0] < 0:
        return None
    first = indices[0]
    if list(indices) != list(range(first, first + len(indices))):
        return None
    return slice(first, first + len(indices))


Numbers = npt.NDArray[np.intp]

_LARGEST_TABLE = 1 << 12


def number_patterns(masks: Sequence[Mask]) -> tuple[Numbers, list[tuple[int, ...]]]:
    """(number of the pattern per row, for each pattern the positions of the masks that hold).

    With masks [T T F] and [T F F] the rows have the numbers 2, 1, 0 and the patterns are
    (), (0,) and (0, 1).
    """
    numbers: Numbers = np.zeros(len(masks[0]), dtype=np.intp)
    bound = 1
    for mask in masks:
        numbers = numbers * 2 + mask
        bound *= 2
        if bound > _LARGEST_TABLE:
            numbers, bound = _without_gaps(numbers)
    numbers, count = _without_gaps(numbers)
    example: Numbers = np.empty(count, dtype=np.intp)
    example[numbers] = np.arange(len(numbers))
    stacked = np.stack(masks)
    return numbers, [tuple(np.flatnonzero(stacked[:, row]).tolist()) for row in example]


def _without_gaps(numbers: Numbers) -> tuple[Numbers, int]:
    """The same order with consecutive numbers, and how many there are."""
    ranks = np.cumsum(np.bincount(numbers) > 0)
    return ranks[numbers] - 1, int(ranks[-1]) if len(ranks) else 0
