"""Which nodes an attempt looks at, how many of them, and which one it takes of equal ones.

Vectors make it cheap to look at every node, so that is what happens unless a percentage is
configured. Then upstream's rules apply: enough feasible nodes are found from a rotating start, and
the search ends when one more than enough turns up. A pod's nominated node is looked at before all
others, and alone if it passes.

Sources: `numFeasibleNodesToFind`, `findNodesThatPassFilters` and `evaluateNominatedNode` in
`pkg/scheduler/schedule_one.go`. Worked example: of 250 nodes 50 - 250 // 125 = 48 % are enough,
which is 120.

Choosing among nodes with the same total. Upstream leaves it to chance. Here it is a rule that a
test can repeat: by name, or by numbers that follow from a seed.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from podium.kubernetes.kinds.node import Node
from podium.scheduler.cluster.growth import Rows, count_of, indices
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.caches.totals import BestRows
from podium.scheduler.framework.cycle import Cycle, PlacementRows
from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult
from podium.scheduler.framework.filtering import PreFilterOutcome
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Code, unresolvable

FEWEST_TO_FIND = 100


class AttemptError(Exception):
    """The attempt broke (as opposed to: no node fits); the text is its message."""


class Candidates(Struct):
    """Nodes that are still in, in order.

    `rows` are those that plugins found; `names` are there once an extender was asked about them and
    count from then on. `returned` are the objects of all of them once an extender has given nodes
    back in full; then these count, not what the cluster knows.
    """

    rows: Rows
    names: tuple[str, ...] | None = None
    returned: tuple[Node, ...] | None = None

    def __len__(self) -> int:
        return count_of(self.rows) if self.names is None else len(self.names)

    def names_in(self, table: NodeTable) -> tuple[str, ...]:
        if self.names is None:
            names = table.names
            self.names = tuple(names[row] for row in indices(self.rows).tolist())
        return self.names

    def objects_in(self, table: NodeTable) -> Mapping[str, Node]:
        return dict(zip(self.names_in(table), self.returned or (), strict=False))


class NodeSearch:
    """Finds the rows that pass every filter, and remembers where the search left off."""

    def __init__(
        self, cluster: Cluster, percentage: int, extenders: Sequence[Extender] = ()
    ) -> None:
        self._cluster = cluster
        self._percentage = percentage
        self._in_order = bool(extenders)
        """Whether the order is seen by others in any case: extenders are notified of it."""
        self._one_is_enough = not any(e.filter_verb or e.prioritize_verb for e in extenders)
        """Whether a profile without scores needs no second node."""
        self._start = 0

    def try_nominated(
        self, cycle: Cycle, profile: Profile, diagnosis: Diagnosis, limit: PlacementRows | None
    ) -> Rows | None:
        """The pod's nominated node alone, if it is there and passes."""
        name = cycle.pod.pod.status.nominated_node_name
        if not name or not self._cluster.nodes.is_present(name):
            return None
        rows = np.array([self._cluster.nodes.row(name)], dtype=np.intp)
        if limit is not None and rows[0] not in limit:
            return None
        result = profile.filter_rows(cycle, rows)
        status = result.status(0)
        if status is None:
            diagnosis.results.append(result)
            return rows
        if status.code.rejected:
            diagnosis.results.append(result)
        return None

    def find(
        self,
        cycle: Cycle,
        profile: Profile,
        outcome: PreFilterOutcome,
        diagnosis: Diagnosis,
        limit: PlacementRows | None,
    ) -> Rows:
        """Rows that pass, among those that the attempt is limited to, or all of them."""
        rows = whole_table(self._cluster) if limit is None else limit
        if outcome.nodes is not None:
            by = " ".join(sorted(outcome.narrowed_by))
            diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{by}]")
            rows = self._narrow(outcome.nodes, limit)
        result = self._filter_enough(cycle, profile, rows)
        diagnosis.results.append(result)
        seen, problem = _up_to_an_error(result)
        if len(diagnosis.results) > 1 or diagnosis.own or diagnosis.strangers:
            seen += _seen_before(diagnosis, seen)
        self._start = (self._start + seen) % diagnosis.node_count
        if problem:
            raise AttemptError(problem)
        survivors = result.survivors()
        if not count_of(survivors):
            self.note_rejectors(diagnosis)
        return survivors

    def _narrow(self, names: frozenset[str], limit: PlacementRows | None) -> Rows:
        rows = [r for r in map(self._cluster.nodes.row, names) if r >= 0]
        present = self._cluster.nodes.present
        wanted = {r for r in rows if present[r]}
        order = self._cluster.node_order() if limit is None else limit
        return order[np.isin(order, list(wanted))] if wanted else order[:0]

    def _filter_enough(self, cycle: Cycle, profile: Profile, rows: Rows) -> FilterResult:
        """Filter enough of the rows; in search order where that order can be seen."""
        count = count_of(rows)
        percentage = profile.percentage_of_nodes_to_score
        want = nodes_to_find(count, self._percentage if percentage is None else percentage)
        if not profile.score and self._one_is_enough:
            want = min(want, 1)
        if want >= count and not self._in_order:
            result = profile.filter_rows(cycle, rows)
            if not result.broken:
                return result
        ordered = self._cluster.node_order() if isinstance(rows, slice) else rows
        result = profile.filter_rows(cycle, rotate_rows(ordered, self._start))
        stop_early(result, want)
        return result

    def note_rejectors(self, diagnosis: Diagnosis) -> None:
        """Whose change of mind about some node may help."""
        for result in diagnosis.results:
            for status, _ in result.groups():
                diagnosis.rejectors.add(status.plugin)
                if status.code is Code.PENDING:
                    diagnosis.pending.add(status.plugin)


def nodes_to_find(count: int, percentage: int) -> int:
    """How many feasible nodes are enough. 0 percent stands for "not configured": all."""
    if count < FEWEST_TO_FIND or percentage == 0:
        return count
    return max(FEWEST_TO_FIND, count * percentage // 100)


def whole_table(cluster: Cluster) -> Rows:
    """All nodes: the table itself if every row shows a node, else the rows that do."""
    return cluster.nodes.all_rows() if cluster.nodes.dense() else cluster.node_order()


def rotate_rows(rows: npt.NDArray[np.intp], start: int) -> npt.NDArray[np.intp]:
    at = start % len(rows) if len(rows) else 0
    return rows if at == 0 else np.concatenate((rows[at:], rows[:at]))


def stop_early(result: FilterResult, want: int) -> None:
    """Cut a search result where a sequential search would have stopped: before the first feasible
    node beyond those wanted."""
    feasible = np.flatnonzero(result.mask_passed())
    if len(feasible) > want:
        result.cut(int(feasible[want]))


def _up_to_an_error(result: FilterResult) -> tuple[int, str]:
    """How many rows lie before the first error, and its text; all of them if there is none."""
    if result.broken:
        errors = [(int(p.min()), s.message) for s, p in result.groups() if not s.code.rejected]
        if errors:
            return min(errors)
    return result.count, ""


def _seen_before(diagnosis: Diagnosis, seen: int) -> int:
    """Nodes with a verdict that are not among those the search has seen: a nominated one that was
    rejected, and those of which extenders said something before, for as long as the search says
    no more."""
    before = 0
    if len(diagnosis.results) > 1:
        nominated, searched = (indices(result.rows) for result in diagnosis.results)
        before = int(nominated[0] not in searched[:seen])
    if diagnosis.own:
        last = diagnosis.results[-1]
        rejected = set(indices(last.rows)[:seen][~last.mask_passed()[:seen]].tolist())
        for row in rejected & set(diagnosis.own):
            del diagnosis.own[row]
    return before + len(diagnosis.own) + len(diagnosis.strangers)


class Choice(Protocol):
    def pick(self, rows: BestRows, names: Sequence[str]) -> int:
        """One of the rows, all equally good. `names` is indexed by row."""
        ...


class FirstByName:
    """The first in alphabetical order, as recorded decisions expect."""

    def pick(self, rows: BestRows, names: Sequence[str]) -> int:
        numbers: list[int] = rows.tolist()
        return min(numbers, key=names.__getitem__)


_MASK = (1 << 64) - 1


class Seeded:
    """A splitmix64 sequence: the same seed and questions give the same answers."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = self._state = seed & _MASK

    def restart(self) -> None:
        """Give the same answers as from the beginning."""
        self._state = self._seed

    def pick(self, rows: BestRows, names: Sequence[str]) -> int:  # noqa: ARG002
        return int(rows[0] if len(rows) == 1 else rows[self._next() % len(rows)])

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)
