"""What the load-aware scorers have in common: one source of loads, and its columns."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from podium.addons.collection.load.load_columns import LoadColumns, LoadRows
from podium.addons.collection.load.load_source import load_source
from podium.addons.collection.load.metric_provider import LoadArgs
from podium.plugin import Cycle, Ints, Rows, ScorePlugin, SourceColumn, ValueSource
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.sources import Floats

MAX_SCORE: Final = 100


class LoadScorePlugin(ScorePlugin):
    """A node without measurements scores 0, so that without any all nodes are equal."""

    in_range = True

    def __init__(self, args: LoadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._source = load_source(args, handle.client_settings)
        self._loads = LoadColumns()

    def sources(self) -> Sequence[ValueSource]:
        return [self._source]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        raise NotImplementedError

    @property
    def column(self) -> SourceColumn:
        return self.handle.sources.column(self._source.name)

    def loads(self, cycle: Cycle, rows: Rows) -> LoadRows:
        return self._loads.of(self.column, cycle.nodes, rows)


def rounded(scores: Floats) -> Ints:
    """Half away from zero, as Go rounds; 0 for what is not known."""
    known = np.nan_to_num(scores, nan=0.0)
    return np.floor(np.clip(known, 0, MAX_SCORE) + 0.5).astype(np.int64)
