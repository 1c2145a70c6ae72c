"""Scores from one number a node: NodeMetadata, PodState and NodeResourcesAllocatable.

The three have in common that a node's number follows from its own row. It is kept in a column, and
worked out again when the log of the rows says that something happened to the row; so a cluster of
thousands of nodes costs Python for the few that changed, and reading is numpy's.

NodeMetadata prefers nodes by a number or a moment in one of their labels or annotations. The best
value gets 100 and the worst 1, others lie between in proportion; a node without the key, or with a
value that does not parse, gets 0. Numbers are truncated to whole ones and moments become ages in
whole seconds (`pkg/nodemetadata` of the collection). Labels cost=10, 20, 30 and strategy `Lowest`
give 100, 50 and 1.

PodState prefers nodes that are about to have room, and avoids those that are spoken for. A node's
raw score is the number of pods that are leaving it less the number of pods nominated to it,
stretched over 0..100; where all nodes are alike they get 0.

NodeResourcesAllocatable prefers small nodes, or large ones, whatever runs on them. A node's size is
the sum of its allocatable resources by weight, divided by the sum of the weights and truncated; in
mode `Least` it counts negatively. A milli-core weighs as much as a mebibyte unless the arguments
say otherwise (`pkg/noderesources` of the collection). Nodes of 4 cpu and 16Gi, 8 and 32Gi, 16 and
64Gi get 100, 66 and 0, in mode `Most` 0, 33 and 100.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal

import msgspec
import numpy as np

from podium.addons.collection.score_ranges import stretch_scores
from podium.golang.array_arithmetic import quotients
from podium.golang.durations import RFC3339, seconds_by_layout
from podium.golang.strconv import parse_float64
from podium.plugin import (
    Arguments,
    ChangeLog,
    Cycle,
    Dependence,
    Floats,
    Handle,
    Ints,
    NodeTable,
    Registration,
    Rows,
    ScorePlugin,
    Usage,
    count_of,
    indices,
)

NO_VALUE: Final = np.iinfo(np.int64).min
_MIN_VALID_SCORE: Final = 1
_BEYOND_INT64: Final = 2.0**63
_STRATEGIES: Final = {"Number": ("Highest", "Lowest"), "Timestamp": ("Newest", "Oldest")}


class NodeMetadataArgs(msgspec.Struct, frozen=True, rename="camel"):
    metadata_key: Annotated[str, msgspec.Meta(min_length=1)]
    metadata_source: Literal["Label", "Annotation"]
    metadata_type: Literal["Number", "Timestamp"]
    scoring_strategy: Literal["Highest", "Lowest", "Newest", "Oldest"]
    timestamp_format: str = ""

    def __post_init__(self) -> None:
        fitting = _STRATEGIES[self.metadata_type]
        if self.scoring_strategy not in fitting:
            raise ValueError(
                f"scoringStrategy {self.scoring_strategy} is not for metadataType"
                f" {self.metadata_type}, write {' or '.join(fitting)}"
            )


class NodeMetadata(ScorePlugin):
    name = "NodeMetadata"
    Args = NodeMetadataArgs
    in_range = True
    normalizes_by_range = False
    args: NodeMetadataArgs

    def __init__(self, args: NodeMetadataArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        nodes = handle.cluster.nodes
        self._values = NodeColumn(nodes, nodes.log, self._value_of)

    def events(self) -> Sequence[Registration]:
        return ()

    def score(self, cycle: Cycle, rows: Rows) -> Ints:  # noqa: ARG002
        values = self._values.read()[rows]
        if self.args.metadata_type == "Timestamp":
            values = np.trunc(self.handle.clock() - values)
        known = ~np.isnan(values)
        scores = np.where(known, values, 0.0).astype(np.int64)
        if self.args.scoring_strategy in ("Lowest", "Newest"):
            scores = -scores
        return np.where(known, scores, NO_VALUE)

    def score_depends(self, cycle: Cycle) -> Dependence | None:  # noqa: ARG002
        """Ages change by themselves, so only numbers may be remembered."""
        if self.args.metadata_type == "Timestamp":
            return None
        return Dependence(fragment=None, usage=False, of_shape=True)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        normalized = np.zeros_like(scores)
        known = scores != NO_VALUE
        normalized[known] = stretch_scores(scores[known], _MIN_VALID_SCORE)
        return normalized

    def _value_of(self, row: int) -> float:
        """A whole number, or seconds since 1970; NaN where there is no value."""
        metadata = self.handle.cluster.nodes.node(row).metadata
        is_label = self.args.metadata_source == "Label"
        written = ((metadata.labels if is_label else metadata.annotations) or {}).get(
            self.args.metadata_key
        )
        if written is None:
            return math.nan
        try:
            if self.args.metadata_type == "Timestamp":
                return seconds_by_layout(self.args.timestamp_format or RFC3339, written)
            number = parse_float64(written)
        except ValueError:
            return math.nan
        # upstream: what no int64 holds becomes the value that stands for none
        return float(math.trunc(number)) if abs(number) < _BEYOND_INT64 else math.nan


class NodeColumn:
    """`work_out` gives a row's number; rows without a node have NaN."""

    def __init__(self, nodes: NodeTable, log: ChangeLog, work_out: Callable[[int], float]) -> None:
        self._nodes = nodes
        self._log = log
        self._work_out = work_out
        self._values: Floats = np.empty(0)
        self._generation = -1
        self._membership = -1

    def read(self) -> Floats:
        """The column over the whole table, up to date; not to be changed."""
        nodes, log = self._nodes, self._log
        changed = log.since(self._generation) if self._is_same_table() else None
        for row in range(nodes.size) if changed is None else set(changed):
            if row < nodes.size:
                self._values[row] = self._work_out(row) if nodes.present[row] else np.nan
        self._generation, self._membership = log.generation, nodes.membership
        return self._values

    def _is_same_table(self) -> bool:
        """Whether the rows hold the nodes that they held when the column was read last."""
        if self._values.size == self._nodes.size and self._membership == self._nodes.membership:
            return True
        self._values = np.full(self._nodes.size, np.nan)
        return False


class PodState(ScorePlugin):
    name = "PodState"
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        usage = handle.cluster.usage
        self._terminating = NodeColumn(
            handle.cluster.nodes, usage.log, lambda row: _count_terminating(usage, row)
        )

    def events(self) -> Sequence[Registration]:
        return ()

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores = self._count_leaving(cycle, rows)
        nominated = np.zeros(cycle.nodes.size, dtype=np.int64)
        for _, name in cycle.cluster.nominator:
            row = cycle.nodes.row(name)
            if row >= 0:
                nominated[row] += 1
        return scores - nominated[rows]

    def _count_leaving(self, cycle: Cycle, rows: Rows) -> Ints:
        if cycle.usage is self.handle.cluster.usage:
            return np.nan_to_num(self._terminating.read()[rows]).astype(np.int64)
        counts = [_count_terminating(cycle.usage, int(row)) for row in indices(rows)]
        return np.array(counts, dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return stretch_scores(scores)


def _count_terminating(usage: Usage, row: int) -> int:
    return sum(pod.terminating for pod in usage.pods(row))


MAX_WEIGHT: Final = 1 << 40


class WeightedResource(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    weight: Annotated[int, msgspec.Meta(ge=1, le=MAX_WEIGHT)]


DEFAULT_RESOURCES: Final = (WeightedResource("cpu", 1 << 20), WeightedResource("memory", 1))


class NodeResourcesAllocatable(ScorePlugin):
    name = "NodeResourcesAllocatable"
    in_range = True
    normalizes_by_range = True

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        mode: Literal["", "Least", "Most"] = "Least"
        resources: tuple[WeightedResource, ...] = ()

    args: Args

    def events(self) -> Sequence[Registration]:
        return ()

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        # upstream: of a resource named twice the last weight counts
        weights = {each.name: each.weight for each in self.args.resources or DEFAULT_RESOURCES}
        size = np.zeros(count_of(rows), dtype=np.int64)
        for name, weight in weights.items():
            index = cycle.nodes.resources.find(name)
            if index >= 0:
                size += cycle.nodes.allocatable[index, rows] * weight
        return quotients(size if self.args.mode == "Most" else -size, sum(weights.values()))

    def score_depends(self, cycle: Cycle) -> Dependence:  # noqa: ARG002
        return Dependence(fragment=None, usage=False, of_shape=True)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return stretch_scores(scores)
