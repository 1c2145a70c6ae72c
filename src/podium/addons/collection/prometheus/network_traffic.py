"""NetworkTraffic: rather nodes whose network interface has carried little of late.

Arguments and arithmetic are those of the plugin of this name (`juliorenner/scheduler-plugins`,
`pkg/networktraffic`): the samples of the received bytes counter over the last minutes are summed
up, and the busiest node gets 0. Where that plugin asks once for each node and pod and fails the
attempt if an answer is missing, one query in the background serves all nodes, and a node without an
answer is neither preferred nor avoided.

Worked example: sums 1, 15, 10, 13 give scores 94, 0, 34, 14.
"""

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
from podium.plugin import Cycle, Dependence, Ints, Rows, ScorePlugin, Source, SourceColumn
from podium.scheduler.framework.handle import Handle

_INTERFACE: Final = "ens192"
_COUNTERS: Final = {
    "Receive": ("node_network_receive_bytes_total",),
    "Transmit": ("node_network_transmit_bytes_total",),
    "Both": ("node_network_receive_bytes_total", "node_network_transmit_bytes_total"),
}
_UNKNOWN: Final = -1
_NONE: Final[Ints] = np.zeros(0, dtype=np.int64)
_MAX_SCORE: Final = 100
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
