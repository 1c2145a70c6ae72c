"""Figures about the pods on each node, as columns that follow pods as they come and go.

A figure is worked out of the pods of one row; only rows whose pods changed are looked at again. An
imagined cluster (`Usage.fork`) is asked row by row, since its pods are nobody else's.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from podium.plugin import Rows
from podium.scheduler.cluster.growth import count_of, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.framework.sources import Floats

Figures = Sequence[float]


class PodColumns:
    def __init__(
        self,
        usage: Callable[[], Usage],
        width: int,
        figures: Callable[[Sequence[PodInfo]], Figures],
    ) -> None:
        """`usage` is that of the cluster itself; `figures` are as many as `width`, all of them 0
        for no pods."""
        self._usage = usage
        self._figures = figures
        self._width = width
        self._columns: Floats = np.zeros((width, 0))
        self._generation = 0

    def of(self, usage: Usage, rows: Rows) -> Floats:
        """`width` lines of as many figures as there are rows."""
        if usage is not self._usage():
            return self._made(usage, rows)
        usage.grow()
        if self._columns.shape[1] < usage.capacity:
            grown = np.zeros((self._width, usage.capacity))
            grown[:, : self._columns.shape[1]] = self._columns
            self._columns = grown
        self._follow(usage)
        return self._columns[:, rows]

    def _follow(self, usage: Usage) -> None:
        if usage.generation == self._generation:
            return
        changed: Iterable[int] | None = usage.log.since(self._generation)
        if changed is None:
            changed = np.flatnonzero(usage.changed > self._generation).tolist()
        for row in set(changed):
            self._columns[:, row] = self._figures(usage.pods(row))
        self._generation = usage.generation

    def _made(self, usage: Usage, rows: Rows) -> Floats:
        made = np.zeros((self._width, count_of(rows)))
        for position, row in enumerate(indices(rows).tolist()):
            made[:, position] = self._figures(usage.pods(row))
        return made
