"""Rows grouped by which of several conditions hold for them.

Some answers depend on a combination: which resources a node lacks, which of them count. There are
few combinations and many rows, so rows are numbered by combination and each is looked at once.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Mask

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
