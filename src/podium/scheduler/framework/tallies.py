"""Totals that stand from pod to pod, and who leads by them.

Where every scorer's scores are constant or remembered, totals change with the rows that changed
and nowhere else. A tally is their sum, brought up to date by those rows; shapes with the same
scores share it. The plain form is adding up all vectors (`scoring.py`).
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.leaders import Leaders
from podium.scheduler.framework.stale import FEW, Changes, Moment
from podium.scheduler.framework.versions import Version

MAX_BYTES = 64 * 1024 * 1024

Parts = Sequence[Ints]


class Tally:
    """Constants and the remembered scores beside them, added up."""

    __slots__ = ("_constants", "_seen", "leaders", "total")

    def __init__(self, constants: Ints, parts: Parts, now: Moment) -> None:
        self._constants = constants
        self._seen = now
        self.total = Version(self._sum(parts))
        self.leaders: Leaders | None = None
        """The best rows of all; there while pods of a burst change a row or two each."""

    def _sum(self, parts: Parts) -> Ints:
        total = self._constants.copy()
        for part in parts:
            total += part
        return total

    def follow(self, parts: Parts, cycle: Cycle, changes: Changes) -> None:
        """Catch up with the parts, which have caught up with the cluster."""
        nodes, usage = cycle.nodes, cycle.usage
        then, self._seen = self._seen, changes.now(nodes, usage)
        stale = changes.since(then, nodes, usage)
        if stale is None:
            self.total, self.leaders = Version(self._sum(parts)), None
        elif len(stale.rows) <= FEW:
            self._change_some(stale.rows, parts)
        else:
            rows = stale.array
            values = self._constants[rows]
            for part in parts:
                values += part[rows]
            self.total, self.leaders = self.total.changed(rows, values), None

    def _change_some(self, rows: list[int], parts: Parts) -> None:
        if rows:
            column = self.total.live
            were = [column.item(row) for row in rows]
            now = [sum([p.item(row) for p in parts], self._constants.item(row)) for row in rows]
            self.total = self.total.changed(rows, now)
            if self.leaders is not None:
                self.leaders.changed(self.total.live, rows, were)
        if self.leaders is None:
            self.leaders = Leaders(self.total.live)

    @property
    def nbytes(self) -> int:
        return self._constants.nbytes


class Tallies:
    """The tallies of late, bounded in bytes; the least recently used goes."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._tallies: OrderedDict[Hashable, Tally] = OrderedDict()
        self._most_bytes = most_bytes
        self.nbytes = 0

    def of(
        self, key: Hashable, constants: Ints, parts: Parts, cycle: Cycle, changes: Changes
    ) -> Tally:
        """The tally of some scores, up to date; the key names the constants and the parts."""
        tally = self._tallies.get(key)
        if tally is None:
            now = changes.now(cycle.nodes, cycle.usage)
            tally = self._tallies[key] = Tally(constants, parts, now)
            self._make_room(tally.nbytes)
        else:
            self._tallies.move_to_end(key)
            tally.follow(parts, cycle, changes)
        return tally

    def _make_room(self, nbytes: int) -> None:
        self.nbytes += nbytes
        while self.nbytes > self._most_bytes and self._tallies:
            _, gone = self._tallies.popitem(last=False)
            self.nbytes -= gone.nbytes

    def clear(self) -> None:
        self._tallies.clear()
        self.nbytes = 0
