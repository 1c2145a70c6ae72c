"""Percentiles of measured values."""

from collections.abc import Sequence

import numpy as np


def find_percentile(values: Sequence[float], percent: float) -> float:
    """A value that is there, the nearest above; 0 if there is none.

    >>> find_percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.0
    """
    if not len(values):
        return 0.0
    return float(np.percentile(np.asarray(values), percent, method="inverted_cdf"))
