"""PrometheusFilter: keep pods off nodes whose measured value is beyond a limit.

Measurements do not change because a pod is evicted, not at once, so a rejection here starts no
preemption; the pod is tried again when Prometheus says something else. Nodes without a value are
accepted unless the configuration says otherwise: a Prometheus that is down stops nobody.
"""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from podium.addons.collection.prometheus.arguments import PrometheusArgs, source_of
from podium.addons.collection.prometheus.prometheus_score import check_query
from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Registration,
    Resource,
    Rows,
    Source,
    SourceColumn,
    Verdict,
    choosing,
    unresolvable,
)
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.registry import ArgumentsError

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
