"""PrometheusScore, PrometheusFilter and NetworkTraffic: nodes by what was measured of them.

For the score a value is placed between two ends, 0 at one and 100 at the other: `min` and `max` if
they are given, otherwise the lowest and the highest value of Prometheus' answer. What lies beyond
an end counts as that end. A node without a value gets `missingScore`.

Worked example: values 20, 50, 80, the lowest preferred, give 100, 50, 0; with min 0 and max 100
they give 80, 50, 20.

PrometheusFilter: keep pods off nodes whose measured value is beyond a limit. Measurements do not
change because a pod is evicted, not at once, so a rejection here starts no preemption; the pod is
tried again when Prometheus says something else. Nodes without a value are accepted unless the
configuration says otherwise: a Prometheus that is down stops nobody.

NetworkTraffic: rather nodes whose network interface has carried little of late. Arguments and
arithmetic are those of the plugin of this name (`juliorenner/scheduler-plugins`,
`pkg/networktraffic`): the samples of the received bytes counter over the last minutes are summed
up, and the busiest node gets 0. Where that plugin asks once for each node and pod and fails the
attempt if an answer is missing, one query in the background serves all nodes, and a node without an
answer is neither preferred nor avoided.

Worked example: sums 1, 15, 10, 13 give scores 94, 0, 34, 14.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from podium.addons.collection.prometheus.source import (
    NEUTRAL_SCORE,
    NodeScore,
    PrometheusArgs,
    quote_label_value,
    source_of,
)
from podium.golang.durations import Duration
from podium.plugin import (
    Action,
    ArgumentsError,
    Cycle,
    Dependence,
    FilterPlugin,
    Floats,
    Handle,
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


_INTERFACE: Final = "ens192"
_COUNTERS: Final = {
    "Receive": ("node_network_receive_bytes_total",),
    "Transmit": ("node_network_transmit_bytes_total",),
    "Both": ("node_network_receive_bytes_total", "node_network_transmit_bytes_total"),
}
_UNKNOWN: Final = -1
_NONE: Final[Ints] = np.zeros(0, dtype=np.int64)
_MAX_BITS: Final = 56
"""A raw score of so many bits can be multiplied by 100 within an int64."""


class NetworkTraffic(ScorePlugin):
    name = "NetworkTraffic"
    in_range = True
    normalizes_by_range = True

    class Args(PrometheusArgs, frozen=True, kw_only=True, rename="camel"):
        network_interface: str = _INTERFACE
        time_range_in_minutes: Annotated[int, Meta(ge=1, le=525_600)] = 5
        direction: Literal["Receive", "Transmit", "Both"] = "Receive"
        function: Literal["sum_over_time", "rate"] = "sum_over_time"
        """`rate` is bytes a second; the sum of a counter's samples also grows with its age."""
        missing_score: NodeScore = NEUTRAL_SCORE

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        self._source = source_of(self.name, args, query_of(args))
        self._raw = _NONE
        self._raw_for: object = None
        self._normalized_of: tuple[Ints, Ints] = (_NONE, _NONE)

    def sources(self) -> Sequence[Source]:
        return [self._source]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        nodes, column = cycle.nodes, self._column
        moment = (column.version, nodes.membership, nodes.size)
        if moment != self._raw_for:
            measured = column.values(nodes.all_rows())
            # upstream: the sample is cut to a whole number.
            known = np.clip(measured, 0, 2.0**62)
            self._raw = np.where(np.isnan(measured), _UNKNOWN, known).astype(np.int64)
            self._raw_for = moment
        return self._raw[rows].copy()

    def score_depends(self, cycle: Cycle) -> Dependence:  # noqa: ARG002
        return Dependence(fragment=None, usage=False, version=self._column.version)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        """Remembered from pod to pod: as long as the same nodes fit, the scores are the same."""
        were, normalized = self._normalized_of
        if not np.array_equal(scores, were):
            normalized = self._normalize(scores)
            self._normalized_of = (scores.copy(), normalized)
        return normalized.copy()

    def _normalize(self, scores: Ints) -> Ints:
        highest = int(scores.max(initial=0))
        known = scores >= 0
        if highest == 0:
            return np.where(known, _MAX_SCORE, self.args.missing_score)
        shift = max(0, highest.bit_length() - _MAX_BITS)
        traffic = np.maximum(scores, 0) >> shift
        normalized: Ints = _MAX_SCORE - traffic * _MAX_SCORE // (highest >> shift)
        return np.where(known, normalized, self.args.missing_score)

    @property
    def _column(self) -> SourceColumn:
        return self.handle.sources.column(self._source.name)


def query_of(args: NetworkTraffic.Args) -> str:
    """`sum_over_time(node_network_receive_bytes_total{device="ens192"}[3m0s])`, for all nodes."""
    interface = quote_label_value(args.network_interface or _INTERFACE)
    span = Duration.of_seconds(60 * args.time_range_in_minutes)
    return " + ".join(
        f"{args.function}({counter}{{device={interface}}}[{span}])"
        for counter in _COUNTERS[args.direction]
    )
