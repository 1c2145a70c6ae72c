"""Go's integer division and rounding, element by element (`arithmetic` says why)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quotients(dividends: NDArray[np.int64], divisors: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """`arithmetic.quotient`, element by element; no divisor may be 0."""
    exact: NDArray[np.int64] = dividends - np.fmod(dividends, divisors)
    return exact // divisors


def round_away(numbers: ArrayLike) -> NDArray[np.int64]:
    """Go's `int64(math.Round(x))`: halves go away from zero, so 52.5 is 53 and -2.5 is -3."""
    given = np.asarray(numbers, dtype=np.float64)
    whole = np.trunc(given)
    step = np.where(np.abs(given - whole) >= 0.5, np.copysign(1.0, given), 0.0)
    return np.asarray(whole + step).astype(np.int64)
