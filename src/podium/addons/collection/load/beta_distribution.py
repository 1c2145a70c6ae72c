"""The beta distribution over many nodes at once: which one fits, and how much of it lies below.

Loads are shares between 0 and 1, and a beta distribution is what has a given mean and deviation on
that interval. Its distribution function is the regularised incomplete beta function, computed by
its continued fraction (Abramowitz and Stegun 26.5.8) in the modified way of Lentz; numpy has none.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from podium.scheduler.framework.sources import Floats

_MAX_TERMS: Final = 300
_PRECISION: Final = 1e-14
_TINY: Final = 1e-300


class Beta(NamedTuple):
    alpha: Floats
    beta: Floats


def matching_moments(mean: Floats, deviation: Floats) -> Beta:
    """The distributions with these means and deviations; NaN where there is none."""
    most = mean * (1 - mean)
    variance = deviation**2
    fits = (variance > 0) & (variance < most)
    scale = np.divide(most, variance, out=np.full(len(mean), math.nan), where=fits) - 1
    return Beta(mean * scale, (1 - mean) * scale)


def distribution(law: Beta, at: Floats) -> Floats:
    """The probability of at most so much, by element; NaN where there is no distribution.

    Worked example: alpha 2 and beta 3 have 0.6875 of their mass below 0.5.
    """
    alpha, beta = law
    known = (alpha > 0) & (beta > 0) & (at >= 0) & (at <= 1)
    found = np.where(known, np.where(at >= 1, 1.0, 0.0), math.nan)
    inner = np.flatnonzero(known & (at > 0) & (at < 1))
    if len(inner):
        found[inner] = _incomplete(alpha[inner], beta[inner], at[inner])
    return found


def _incomplete(a: Floats, b: Floats, x: Floats) -> Floats:
    """For 0 < x < 1; the fraction converges quickly on one side, the other is its complement."""
    turned = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1 - x, x)
    log_front = a * np.log(x) + b * np.log1p(-x) + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    part = np.clip(np.exp(log_front) / a * _fraction(a, b, x), 0.0, 1.0)
    return np.where(turned, 1 - part, part)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    c = np.ones(len(x))
    value = d.copy()
    for m in range(1, _MAX_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * c * d
        if np.all(np.abs(c * d - 1) < _PRECISION):
            break
    return value


def _away_from_zero(numbers: Floats) -> Floats:
    return np.where(np.abs(numbers) < _TINY, _TINY, numbers)


def _log_gamma(numbers: Floats) -> Floats:
    return np.fromiter(map(math.lgamma, numbers.tolist()), dtype=np.float64, count=len(numbers))
