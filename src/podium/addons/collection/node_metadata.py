"""NodeMetadata: prefer nodes by a number or a moment in one of their labels or annotations.

The best value gets 100 and the worst 1, others lie between in proportion; a node without the key,
or with a value that does not parse, gets 0. Numbers are truncated to whole ones and moments become
ages in whole seconds (`pkg/nodemetadata` of the collection).

Example: labels cost=10, 20, 30 and strategy `Lowest` give 100, 50 and 1.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
import numpy as np

from podium.addons.collection.node_columns import NodeColumn
from podium.addons.collection.score_ranges import stretch_scores
from podium.golang.strconv import parse_float64
from podium.golang.time_layouts import RFC3339, seconds_by_layout
from podium.plugin import Cycle, Dependence, Ints, Registration, Rows, ScorePlugin
from podium.scheduler.framework.handle import Handle

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
