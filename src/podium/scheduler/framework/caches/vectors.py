"""Vectors remembered per fragment of the pod, brought up to date row by row.

Most of a plugin's answer for the next pod is its answer for the last one: the same requests, the
same tolerations, and only a row or two changed since. A plugin that wants this says what its vector
depends on (`Dependence`): the part of the pod it reads, whether pods on the node matter, and a
version of anything else. An answer for a row must then depend on nothing but these and the row's
node. What was handed out can be read as it was for ever (`columns.ColumnVersion`), so decisions can
keep it.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.caches.columns import (
    FEW,
    Column,
    ColumnVersion,
    RowChanges,
    Stale,
    TableMoment,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Values, Verdict, check_verdict
from podium.scheduler.framework.faults import WrongAnswer, status_or_none
from podium.scheduler.framework.points import FilterPlugin, ScorePlugin
from podium.scheduler.framework.status import Status

MAX_BYTES = 192 * 1024 * 1024
_NEVER = TableMoment(-1, -1)


class RememberedScores(Struct, frozen=True):
    """A remembered scorer's vectors over the whole table. `weighted` is for adding up at once: it
    may change later on."""

    raw: ColumnVersion
    normalized: Column
    weighted: Ints


Key = tuple[str, str, Hashable]
"""Filter or score, the plugin, and the fragment."""


class _Entry:
    """`made_for` is the membership of the table and the version of anything else that a vector was
    made for, `seen` the changes that it has seen. Who holds an entry uses it as long as it is
    `kept`."""

    __slots__ = ("kept", "key", "made_for", "nbytes", "seen")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.kept = True
        self.made_for: tuple[int, Hashable] | None = None
        self.seen = _NEVER
        self.nbytes = 0

    def clear(self) -> None:
        """Let go of the vectors, whoever holds the entry."""
        raise NotImplementedError


class FilterEntry(_Entry):
    """`values` None means that every row passes. `statuses` only ever grows."""

    __slots__ = ("numbers", "statuses", "values", "verdict")

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.values: Values | None = None
        self.verdict: Verdict | None = None
        self.statuses: list[Status] = []
        self.numbers: dict[Status, int] = {}

    def clear(self) -> None:
        self.values = self.verdict = None

    def says(self, row: int, status: Status | None) -> bool:
        """Whether this is what is known of a row already."""
        value = 0 if self.values is None else int(self.values[row])
        if status is None or value == 0:
            return status is None and value == 0
        return self.verdict is not None and self.verdict.describe(value) == status

    def number(self, status: Status) -> int:
        found = self.numbers.get(status)
        if found is None:
            self.statuses.append(status)
            found = self.numbers[status] = len(self.statuses)
        return found


class ScoreEntry(_Entry):
    __slots__ = ("raw", "scores")

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.raw: ColumnVersion | None = None
        self.scores: RememberedScores | None = None

    def clear(self) -> None:
        self.raw = self.scores = None


E = TypeVar("E", bound=_Entry)
T = TypeVar("T", bound="np.generic[object]")


class VectorCache:
    """What the plugins of one profile said, bounded in bytes; the least recently used goes."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._most_bytes = most_bytes
        self.nbytes = 0
        self.changes = RowChanges()

    def filter(self, plugin: FilterPlugin, dependence: Dependence, cycle: Cycle) -> Verdict | None:
        """A plugin's verdict for the whole table."""
        return self.verdict(self.filter_entry(plugin, dependence), plugin, dependence, cycle)

    def filter_entry(self, plugin: FilterPlugin, dependence: Dependence) -> FilterEntry:
        return self._entry(("filter", plugin.name, dependence.fragment), FilterEntry)

    def verdict(
        self, entry: FilterEntry, plugin: FilterPlugin, dependence: Dependence, cycle: Cycle
    ) -> Verdict | None:
        """`filter` for those who hold the entry."""
        stale = self._stale(entry, dependence, cycle)
        try:
            if stale is None:
                self._refilter(entry, plugin, cycle)
            elif stale.rows:
                self._patch_verdict(entry, plugin, cycle, stale)
        except Exception:
            entry.made_for = None
            raise
        return entry.verdict

    def score(
        self, plugin: ScorePlugin, weight: int, dependence: Dependence, cycle: Cycle, rows: Rows
    ) -> Ints | RememberedScores:
        """A plugin's raw scores; for the whole table the finished ones with them."""
        entry = self.score_entry(plugin, dependence)
        if isinstance(rows, slice):
            return self.scores(entry, plugin, weight, dependence, cycle)
        return self._raw(entry, plugin, dependence, cycle).live[rows]

    def score_entry(self, plugin: ScorePlugin, dependence: Dependence) -> ScoreEntry:
        return self._entry(("score", plugin.name, dependence.fragment), ScoreEntry)

    def scores(
        self,
        entry: ScoreEntry,
        plugin: ScorePlugin,
        weight: int,
        dependence: Dependence,
        cycle: Cycle,
    ) -> RememberedScores:
        """`score` of the whole table for those who hold the entry."""
        raw = self._raw(entry, plugin, dependence, cycle)
        if entry.scores is None:
            try:
                entry.scores = _finish(plugin, weight, cycle, raw)
            except Exception:
                entry.made_for = None
                raise
        return entry.scores

    def _raw(
        self, entry: ScoreEntry, plugin: ScorePlugin, dependence: Dependence, cycle: Cycle
    ) -> ColumnVersion:
        stale = self._stale(entry, dependence, cycle)
        raw = entry.raw
        try:
            if stale is None or raw is None:
                entry.raw = raw = self._rescore(entry, plugin, cycle)
                entry.scores = None
            elif stale.rows:
                entry.raw = raw = _patch_scores(raw, plugin, cycle, stale)
                entry.scores = None
        except Exception:
            entry.made_for = None
            raise
        return raw

    def _rescore(self, entry: ScoreEntry, plugin: ScorePlugin, cycle: Cycle) -> ColumnVersion:
        raw = _spread_out(whole_numbers(plugin.score(cycle, _table(cycle))), cycle)
        self._account(entry, raw.nbytes * 2)
        return ColumnVersion.of_another(raw)

    def _entry(self, key: Key, kind: type[E]) -> E:
        entry = self._entries.get(key)
        if not isinstance(entry, kind):
            entry = self._entries[key] = kind(key)
        self._entries.move_to_end(key)
        return entry

    # staying right

    def _stale(self, entry: _Entry, dependence: Dependence, cycle: Cycle) -> Stale | None:
        """Rows to look at again; None for all of them. Notes that the entry is right now."""
        nodes, usage, changes = cycle.nodes, cycle.usage, self.changes
        # Noted before the plugin is called: a caller whose plugin fails sets `made_for` to None.
        then, entry.seen = entry.seen, changes.now(nodes, usage)
        made_for = (nodes.membership, dependence.version)
        if entry.made_for != made_for:
            entry.made_for = made_for
            return None
        if dependence.usage:
            return changes.since(then, nodes, usage)
        return changes.of_nodes(then, nodes, usage)

    def _refilter(self, entry: FilterEntry, plugin: FilterPlugin, cycle: Cycle) -> None:
        verdict = check_verdict(plugin.filter(cycle, _table(cycle)))
        entry.statuses = []
        entry.numbers = {}
        if verdict is None:
            entry.values = entry.verdict = None
            return
        if verdict.broken:
            # Good for this attempt alone: the next one asks again.
            entry.made_for = None
        entry.values = _spread_out(verdict.values, cycle)
        entry.verdict = Verdict(entry.values, verdict.describe, verdict.broken)
        self._account(entry, entry.values.nbytes)

    def _patch_verdict(
        self,
        entry: FilterEntry,
        plugin: FilterPlugin,
        cycle: Cycle,
        stale: Stale,
    ) -> None:
        rows = stale.rows
        if plugin.has_filter_row and len(rows) <= FEW:
            statuses = [plugin.filter_row(cycle, row) for row in rows]
            statuses = [s if s is None else status_or_none("filter_row", s) for s in statuses]
        else:
            fresh = check_verdict(plugin.filter(cycle, stale.array))
            if fresh is None and entry.values is None:
                return
            statuses = _statuses(fresh, len(rows))
        if all(entry.says(row, status) for row, status in zip(rows, statuses, strict=True)):
            return
        if any(status is not None and not status.code.rejected for status in statuses):
            # An error of one node ends the attempt: only a whole verdict tells where.
            self._refilter(entry, plugin, cycle)
            return
        # A copy: decisions hold the verdict as it was.
        values = self._renumber(entry, cycle)
        for row, status in zip(rows, statuses, strict=True):
            values[row] = 0 if status is None else entry.number(status)
        entry.values = values
        known = entry.statuses
        rejects = bool(values.max(initial=0))
        entry.verdict = Verdict(values, lambda value: known[value - 1]) if rejects else None
        self._account(entry, values.nbytes)

    def _renumber(self, entry: FilterEntry, cycle: Cycle) -> Values:
        """A copy of the verdict in which numbers stand for the entry's own statuses."""
        verdict = entry.verdict
        if entry.values is None or verdict is None:
            return np.zeros(cycle.nodes.size, dtype=np.int32)
        if entry.statuses:
            return entry.values.copy()
        found, inverse = np.unique(entry.values, return_inverse=True)
        numbers = [entry.number(verdict.describe(int(v))) if v else 0 for v in found]
        return np.array(numbers, dtype=np.int32)[inverse]

    def _account(self, entry: _Entry, nbytes: int) -> None:
        self.nbytes += nbytes - entry.nbytes
        entry.nbytes = nbytes
        self._entries.move_to_end(entry.key)  # who makes room stays
        while self.nbytes > self._most_bytes and len(self._entries) > 1:
            _, gone = self._entries.popitem(last=False)
            self.nbytes -= gone.nbytes
            gone.kept = False
            gone.clear()


def _patch_scores(
    raw: ColumnVersion, plugin: ScorePlugin, cycle: Cycle, stale: Stale
) -> ColumnVersion:
    rows = stale.rows
    if not scores_as_they_are(plugin):
        # What normalising makes of an array may be that very array.
        raw = ColumnVersion.of_another(raw.live)
    if plugin.has_score_row and len(rows) <= FEW:
        return raw.with_values(rows, [_row_score(plugin, cycle, row) for row in rows])
    return raw.with_values(stale.array, plugin.score(cycle, stale.array))


def _row_score(plugin: ScorePlugin, cycle: Cycle, row: int) -> int:
    answer: object = plugin.score_row(cycle, row)
    if type(answer) is int:
        return answer
    if isinstance(answer, int | np.integer):
        return int(answer)
    raise WrongAnswer("score_row", "a whole number", answer)


def _statuses(verdict: Verdict | None, count: int) -> list[Status | None]:
    if verdict is None:
        return [None] * count
    return [verdict.describe(value) if value else None for value in verdict.values.tolist()]


def _table(cycle: Cycle) -> Rows:
    nodes = cycle.nodes
    if nodes.dense():
        return nodes.all_rows()
    return np.flatnonzero(nodes.present[: nodes.size])


def _spread_out(vector: npt.NDArray[T], cycle: Cycle) -> npt.NDArray[T]:
    """A vector over the present rows as one over all rows of the table."""
    nodes: NodeTable = cycle.nodes
    if len(vector) != nodes.present_count:
        raise ValueError(f"gave {len(vector)} answers for {nodes.present_count} nodes")
    if nodes.dense():
        return vector
    whole = np.zeros(nodes.size, dtype=vector.dtype)
    whole[nodes.present[: nodes.size]] = vector
    return whole


def usable(cycle: Cycle, rows: Rows) -> bool:
    """Whether remembered vectors may answer: the real cluster, and most of its rows."""
    if cycle.usage is not cycle.cluster.usage:
        return False
    return isinstance(rows, slice) or 2 * len(rows) > cycle.nodes.size


def whole_numbers(scores: object) -> Ints:
    """A scorer's answer, if it is one: fractions would make totals that upstream never has."""
    if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "iu":
        raise WrongAnswer("score", "an array of whole numbers", scores)
    return scores


def scores_as_they_are(plugin: ScorePlugin) -> bool:
    """Whether raw scores are the normalised ones, whatever rows they are for."""
    return type(plugin).normalize is ScorePlugin.normalize


def _finish(plugin: ScorePlugin, weight: int, cycle: Cycle, raw: ColumnVersion) -> RememberedScores:
    if scores_as_they_are(plugin):
        return RememberedScores(raw, raw, raw.live * weight if weight != 1 else raw.live)
    normalized = whole_numbers(plugin.normalize(cycle, _table(cycle), raw.live))
    return RememberedScores(raw, normalized, normalized * weight if weight != 1 else normalized)
