"""Rows grouped by which of several conditions hold for them.

Some answers depend on a combination: which resources a node lacks, which of them count. There are
few combinations and many rows, so rows are numbered by combination and each is looked at once.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.cluster.growth import Mask


def number_patterns(
    masks: Sequence[Mask],
) -> tuple[npt.NDArray[np.intp], list[tuple[int, ...]]]:
    """(number of the pattern per row, for each pattern the positions of the masks that hold).

    With masks [T T F] and [T F F] the rows are numbered 2, 1, 0 and the patterns are
    (), (0,) and (0, 1).
    """
    stacked = np.stack(masks)
    packed = np.packbits(stacked, axis=0)
    _, first, numbers = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    patterns = [tuple(int(i) for i in np.flatnonzero(stacked[:, row])) for row in first]
    return numbers.reshape(-1), patterns
