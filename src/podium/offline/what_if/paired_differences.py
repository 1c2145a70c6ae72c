"""Whether two configurations differ, or two samples of arrivals did: differences seed by seed.

Both configurations get the same arrivals for a seed, so each seed gives one difference. If the
configurations were alike, each difference might as well have had the other sign. The p-value is the
part of all choices of signs with which the sum is at least as far from 0 as it is (sign-flip
permutation test). Up to `MAX_EXACT` seeds that differ all choices are counted; beyond, the
sum is taken for normal with the variance that random signs give it.

Example: differences 1, 2 and 3 can have 8 choices of signs, and two of them (all, none) give 6 or
-6, so p is 0.25. Six seeds are the fewest that can come below 0.05.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Final

import numpy as np

MAX_EXACT: Final = 20
"""A million choices of signs take some milliseconds."""
_TOLERANCE: Final = 1e-9
"""Sums that differ by rounding only are the same."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Of one metric, the second less the first; `p_value` is None for one seed."""

    mean: float
    lowest: float
    highest: float
    p_value: float | None


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    differences = np.array(second, dtype=np.float64) - np.array(first, dtype=np.float64)
    return PairedDifference(
        float(differences.mean()),
        float(differences.min()),
        float(differences.max()),
        sign_flip_p_value(differences.tolist()) if len(differences) > 1 else None,
    )


def sign_flip_p_value(differences: Sequence[float]) -> float:
    sizes = np.array([each for each in differences if each], dtype=np.float64)
    if not len(sizes):
        return 1.0
    sizes = sizes / np.abs(sizes).sum()
    observed = abs(float(sizes.sum()))
    if len(sizes) > MAX_EXACT:
        return erfc(observed / sqrt(2 * float((sizes**2).sum())))
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums + size, sums - size))
    return float((np.abs(sums) >= observed - _TOLERANCE).mean())
