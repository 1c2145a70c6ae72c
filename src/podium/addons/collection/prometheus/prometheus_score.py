"""PrometheusScore and PrometheusFilter: any query with one value for each node.

For the score a value is placed between two ends, 0 at one and 100 at the other: `min` and `max` if
they are given, otherwise the lowest and the highest value of Prometheus' answer. What lies beyond
an end counts as that end. A node without a value gets `missingScore`.

Worked example: values 20, 50, 80, the lowest preferred, give 100, 50, 0; with min 0 and max 100
they give 80, 50, 20.

PrometheusFilter: keep pods off nodes whose measured value is beyond a limit. Measurements do not
change because a pod is evicted, not at once, so a rejection here starts no preemption; the pod is
tried again when Prometheus says something else. Nodes without a value are accepted unless the
configuration says otherwise: a Prometheus that is down stops nobody.
"""

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from podium.addons.collection.prometheus.source import (
    NEUTRAL_SCORE,
    NodeScore,
    PrometheusArgs,
    source_of,
)
from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Floats,
    Ints,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    Source,
    SourceColumn,
    Verdict,
    choosing,
    unresolvable,
)
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.registry import ArgumentsError

_MAX_SCORE: Final = 100
_MAX_END: Final = 1e300
"""Two ends that are further apart have no distance in floating point."""


class PrometheusScore(ScorePlugin):
    name = "PrometheusScore"
    in_range = True

    class Args(PrometheusArgs, frozen=True, kw_only=True, rename="camel"):
        query: str = ""
        prefer: Literal["Lowest", "Highest"] = "Lowest"
        min: float | None = None
        max: float | None = None
        missing_score: NodeScore = NEUTRAL_SCORE

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        check_query(args.query)
        if (args.min is None) != (args.max is None):
            missing = "min" if args.min is None else "max"
            raise ArgumentsError(f"args.{missing}", "is missing: min and max go together")
        if args.min is not None and args.max is not None and not args.min < args.max:
            raise ArgumentsError("args.max", "must be greater than min")
        self._source = source_of(self.name, args, args.query)
        self._ends: tuple[object, float, float] = (None, 0.0, 0.0)

    def sources(self) -> Sequence[Source]:
        return [self._source]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:  # noqa: ARG002
        measured = self._column.values(rows)
        lowest, highest = self._range()
        # All the same is neither good nor bad, but it is known: the best.
        span = highest - lowest
        share: Floats = (measured - lowest) / span if span > 0 else np.zeros(len(measured))
        if self.args.prefer == "Lowest" or span <= 0:
            share = 1.0 - share
        scores = np.rint(_MAX_SCORE * np.clip(share, 0.0, 1.0))
        return np.where(np.isnan(measured), self.args.missing_score, scores).astype(np.int64)

    def score_depends(self, cycle: Cycle) -> Dependence:  # noqa: ARG002
        return Dependence(fragment=None, usage=False, version=self._column.version)

    def _range(self) -> tuple[float, float]:
        """The ends between which values are placed: those given, or the answer's own."""
        if self.args.min is not None and self.args.max is not None:
            return self.args.min, self.args.max
        column = self._column
        if self._ends[0] != column.version:
            values = column.value if isinstance(column.value, dict) else {}
            lowest = min(values.values(), default=0.0)
            highest = max(values.values(), default=0.0)
            if math.isinf(highest - lowest):
                lowest, highest = max(lowest, -_MAX_END), min(highest, _MAX_END)
            self._ends = (column.version, lowest, highest)
        return self._ends[1], self._ends[2]

    @property
    def _column(self) -> SourceColumn:
        return self.handle.sources.column(self._source.name)


def check_query(query: str) -> None:
    """Raises ArgumentsError."""
    if not query.strip():
        remedy = "write PromQL that has one value for each node"
        raise ArgumentsError("args.query", "is missing", remedy)


ABOVE: Final = "node(s) had a measured value above the limit"
BELOW: Final = "node(s) had a measured value below the limit"
UNMEASURED: Final = "node(s) had no measured value"


class PrometheusFilter(FilterPlugin):
    name = "PrometheusFilter"

    class Args(PrometheusArgs, frozen=True, kw_only=True, rename="camel"):
        query: str = ""
        min: float | None = None
        max: float | None = None
        missing: Literal["Accept", "Reject"] = "Accept"
        reason: str = ""
        """Told of nodes whose value is beyond a limit, in place of a general text."""

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        check_query(args.query)
        if args.min is None and args.max is None:
            raise ArgumentsError("args.max", "is missing: there is neither min nor max")
        if args.min is not None and args.max is not None and args.min > args.max:
            raise ArgumentsError("args.max", "must not be less than min")
        self._source = source_of(self.name, args, args.query)
        reasons = (args.reason or ABOVE, args.reason or BELOW, UNMEASURED)
        self._statuses = [unresolvable(reason) for reason in reasons]

    def sources(self) -> Sequence[Source]:
        return [self._source]

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:  # noqa: ARG002
        measured = self._column.values(rows)
        numbers = np.zeros(len(measured), dtype=np.int64)
        if self.args.missing == "Reject":
            numbers[np.isnan(measured)] = 3
        if self.args.min is not None:
            numbers[measured < self.args.min] = 2
        if self.args.max is not None:
            numbers[measured > self.args.max] = 1
        return choosing(numbers, self._statuses)

    def filter_depends(self, cycle: Cycle) -> Dependence:  # noqa: ARG002
        return Dependence(fragment=None, usage=False, version=self._column.version)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.SOURCE, Action.UPDATE),
            Registration(Resource.NODE, Action.ADD),
        )

    @property
    def _column(self) -> SourceColumn:
        return self.handle.sources.column(self._source.name)
