"""Scores of all nodes for each kind of pod, remembered: only rows that changed are scored again.

A row changed if the logs of nodes or of pods name it, or if its cards did. The framework could
remember these scores too, but asks again for all rows where a plugin normalises.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.packing.pod_kinds import PodKind
from podium.plugin import Cluster, Ints

MAX_KINDS: Final = 512

ScoreRows = Callable[[PodKind, Ints], Ints]


class _Entry:
    __slots__ = ("made_for", "scores", "seen_cards", "seen_nodes", "seen_usage")

    def __init__(self) -> None:
        self.scores: Ints = np.empty(0, np.int64)
        self.made_for: Hashable = None
        self.seen_nodes = self.seen_usage = self.seen_cards = -1


class RememberedScores:
    def __init__(self, cluster: Cluster, score_rows: ScoreRows) -> None:
        self._cluster = cluster
        self._score_rows = score_rows
        self._entries: OrderedDict[PodKind, _Entry] = OrderedDict()

    def read(self, kind: PodKind, table: CardTable, version: Hashable) -> Ints:
        """The scores of all rows; not to be changed. `version` stands for what matters beside the
        row's own node, pods and cards."""
        entry = self._entries.get(kind)
        if entry is None:
            entry = self._entries[kind] = _Entry()
            if len(self._entries) > MAX_KINDS:
                self._entries.popitem(last=False)
        self._entries.move_to_end(kind)
        size = self._cluster.nodes.size
        if entry.made_for != (version, size):
            rows = np.arange(size)
            entry.scores = np.zeros(size, np.int64)
            entry.made_for = (version, size)
        else:
            rows = self._changed(entry, table)
        entry.seen_nodes = self._cluster.nodes.log.generation
        entry.seen_usage = self._cluster.usage.log.generation
        entry.seen_cards = table.version
        if len(rows):
            entry.scores[rows] = self._score_rows(kind, rows)
        return entry.scores

    def _changed(self, entry: _Entry, table: CardTable) -> Ints:
        size = len(entry.scores)
        of_nodes = self._cluster.nodes.log.since(entry.seen_nodes)
        of_pods = self._cluster.usage.log.since(entry.seen_usage)
        if of_nodes is None or of_pods is None:
            return np.arange(size)
        changed = table.generations[:size] > entry.seen_cards
        told = [row for row in {*of_nodes, *of_pods} if 0 <= row < size]
        if told:
            changed[told] = True
        return np.flatnonzero(changed)
