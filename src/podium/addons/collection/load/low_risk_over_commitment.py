"""LowRiskOverCommitment: rather nodes where promised limits are unlikely to be called in.

Two risks are weighed for each resource: that limits beyond what the node has are used, and that the
load, which is taken to follow a beta distribution, exceeds what the pods on the node asked for. The
resource with the higher risk counts.

Worked example (one resource, C = 4000): requests 3500 and limits 6000 with the pod, 3000 and 5000
without, average 60 %, deviation 10 %: a limit risk of (6000-4000)/(6000-3500) = 0.8, a load risk of
0.29815, a risk of 0.54908. Source: `pkg/trimaran/lowriskovercommitment` in
`kubernetes-sigs/scheduler-plugins`.

The beta distribution over many nodes at once: which one fits, and how much of it lies below. Loads
are shares between 0 and 1, and a beta distribution is what has a given mean and deviation on that
interval. Its distribution function is the regularised incomplete beta function, computed by its
continued fraction (Abramowitz and Stegun 26.5.8) in the modified way of Lentz; numpy has none.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from podium.addons.collection.load.load_score import (
    MAX_SCORE,
    LoadScorePlugin,
    PodColumns,
    effective_resources,
    round_scores,
)
from podium.addons.collection.load.load_source import LoadArgs
from podium.plugin import (
    CPU,
    MEMORY,
    SKIP,
    Cycle,
    Dependence,
    Floats,
    Handle,
    Ints,
    PodInfo,
    PreScorePlugin,
    Rows,
    Status,
)

_DEFAULT_WINDOW: Final = 5
_DEFAULT_WEIGHT: Final = 0.5
_VARIANCE_ALLOWANCE: Final = 0.99
"""Of the variance that a beta distribution can have at most."""


class Commitment(NamedTuple):
    """One resource on some nodes, with the pod and without it."""

    capacity: Floats
    request: Floats
    limit: Floats
    request_before: Floats
    limit_before: Floats


class LowRiskOverCommitment(PreScorePlugin, LoadScorePlugin):
    name = "LowRiskOverCommitment"

    class Args(LoadArgs, frozen=True, kw_only=True, rename="camel"):
        smoothing_window_size: int = _DEFAULT_WINDOW
        risk_limit_weights: dict[str, float] = msgspec.field(default_factory=dict)

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        # upstream: a size of 0 or less is the default, and so is a weight outside 0..1.
        size = args.smoothing_window_size
        self._smoothing = (size if size > 0 else _DEFAULT_WINDOW) ** 0.5
        weights = {
            name: weight if 0 <= weight <= 1 else _DEFAULT_WEIGHT
            for name, weight in args.risk_limit_weights.items()
        }
        self._cpu_weight = weights.get("cpu", _DEFAULT_WEIGHT)
        self._memory_weight = weights.get("memory", _DEFAULT_WEIGHT)
        self._commitments = PodColumns(lambda: handle.cluster.usage, 4, _commitments)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        """upstream: pods without requests and limits score 0 everywhere; so they do left out."""
        return SKIP if effective_resources(cycle.pod.shape).is_best_effort else None

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        loads = self.loads(cycle, rows)
        pod = effective_resources(cycle.pod.shape)
        before = self._commitments.of(cycle.usage, rows)
        allocatable = cycle.nodes.allocatable
        cpu = self._risk(
            commitment_of(allocatable[CPU][rows], before[:2], pod[:2]),
            loads.cpu,
            loads.cpu_deviation,
            self._cpu_weight,
        )
        memory = self._risk(
            commitment_of(allocatable[MEMORY][rows], before[2:], pod[2:]),
            loads.memory,
            loads.memory_deviation,
            self._memory_weight,
        )
        is_measured = ~(np.isnan(loads.cpu) & np.isnan(loads.memory))
        return round_scores(np.where(is_measured, (1 - np.maximum(cpu, memory)) * MAX_SCORE, 0.0))

    def score_depends(self, cycle: Cycle) -> Dependence:
        fragment = effective_resources(cycle.pod.shape)
        return Dependence(fragment, usage=True, version=self.column.version)

    def _risk(self, node: Commitment, percent: Floats, deviation: Floats, weight: float) -> Floats:
        load = np.where(
            np.isnan(percent), 0.0, load_risk(node, percent, self._smoothing * deviation / 100)
        )
        return np.clip(weight * limit_risk(node) + (1 - weight) * load, 0.0, 1.0)


def commitment_of(capacity: Ints, before: Floats, pod: Sequence[int]) -> Commitment:
    """`before` and `pod` are requests and limits; requests never exceed the capacity."""
    whole = capacity.astype(np.float64)
    request, limit = before
    return Commitment(
        whole,
        np.minimum(request + pod[0], whole),
        limit + pod[1],
        np.minimum(request, whole),
        limit,
    )


def limit_risk(node: Commitment) -> Floats:
    """How much of the promised but unrequested would be missing if all of it were used."""
    beyond = node.limit - node.capacity
    unrequested = node.limit - node.request
    return np.divide(beyond, unrequested, out=np.zeros(len(beyond)), where=beyond > 0)


def load_risk(node: Commitment, percent: Floats, deviation: Floats) -> Floats:
    """How likely it is that the load exceeds what was requested before the pod came."""
    has_any = node.capacity > 0
    zero = np.zeros(len(percent))
    mean = np.clip(np.nan_to_num(percent) / 100, 0, 1)
    most = np.sqrt(mean * (1 - mean) * _VARIANCE_ALLOWANCE)
    spread = np.minimum(np.clip(deviation, 0, None), most)
    requested = np.clip(
        np.divide(node.request_before, node.capacity, out=zero, where=has_any), 0, 1
    )
    law = matching_moments(mean, spread)
    fitted = np.nan_to_num(distribution(law, requested))
    certain = (mean == 0) | ((spread == 0) & (mean <= requested))
    is_fitted = ~certain & (spread > 0)
    below = np.where(certain, 1.0, np.where(is_fitted, fitted, 0.0))
    # Where limits stay below the capacity, no load beyond them is possible.
    limited = (node.limit_before < node.capacity) & (node.request_before <= node.limit_before)
    promised = np.divide(
        node.limit_before, node.capacity, out=np.zeros(len(percent)), where=has_any
    )
    possible = np.nan_to_num(distribution(law, np.clip(promised, 0, 1)))
    shared = np.divide(below, possible, out=below.copy(), where=possible > 0)
    below = np.where(limited & is_fitted, np.clip(shared, 0, 1), below)
    below = np.where(limited & (promised == 0), 1.0, below)
    return 1 - below


def _commitments(pods: Sequence[PodInfo]) -> tuple[float, ...]:
    """Requests and limits of cpu, then of memory, of the pods on a node."""
    each = [effective_resources(pod.shape) for pod in pods]
    return tuple(float(sum(column)) for column in zip(*each, strict=True)) if each else (0.0,) * 4


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
