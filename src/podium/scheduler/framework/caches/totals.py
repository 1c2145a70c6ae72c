"""The weighted totals of an attempt, kept up to date from pod to pod, and the best rows by them.

Leaders are the rows with the highest value of a column, known without looking at all of it.
Between two pods a row or two change, and among thousands of equal nodes the best ones stay the
best. The column is divided into blocks with the highest value of each and how many rows have it; a
change concerns one block. `tolist` is the plain form: everything that equals the maximum.

Tallies are totals that stand from pod to pod. Where every scorer's scores are constant or
remembered, totals change with the rows that changed and nowhere else. A tally is their sum, brought
up to date by those rows; shapes with the same scores share it. The plain form is adding up all
vectors (`scoring.py`).
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.framework.caches.columns import (
    FEW,
    Column,
    ColumnVersion,
    RowChanges,
    TableMoment,
    live,
    read,
)
from podium.scheduler.framework.cycle import Cycle

BLOCK = 512


class Leaders:
    """The best rows of a column, in order: `len`, the k-th, or all of them."""

    __slots__ = ("_best", "_column", "_counts", "_ties", "_tops")

    def __init__(self, column: Ints) -> None:
        self._column = column
        self._tops: list[int] = []
        self._counts: list[int] = []
        for start in range(0, len(column), BLOCK):
            top, count = _find_leading(column[start : start + BLOCK])
            self._tops.append(top)
            self._counts.append(count)
        self._elect()

    def update_rows(self, column: Ints, rows: Sequence[int], were: Sequence[int]) -> None:
        """Some rows of the column have other values than they had."""
        self._column = column
        if len(rows) == 1:
            self._one_changed(rows[0], were[0], int(column[rows[0]]))
            return
        for block in {row // BLOCK for row in rows}:
            self._look_again(block)

    def _one_changed(self, row: int, was: int, now: int) -> None:
        block = row // BLOCK
        top, count = self._tops[block], self._counts[block]
        if now > top:
            self._set(block, now, 1)
        elif now == top:
            if was != top:
                self._set(block, top, count + 1)
        elif was == top:
            if count > 1:
                self._set(block, top, count - 1)
            else:
                self._look_again(block)

    def _look_again(self, block: int) -> None:
        self._set(block, *_find_leading(self._column[block * BLOCK : (block + 1) * BLOCK]))

    def _set(self, block: int, top: int, count: int) -> None:
        led = self._counts[block] if self._tops[block] == self._best else 0
        self._tops[block], self._counts[block] = top, count
        leads = count if top == self._best else 0
        self._ties += leads - led
        # The best value sinks only when its last row has left it.
        if top > self._best or self._ties == 0:
            self._elect()

    def _elect(self) -> None:
        self._best = max(self._tops)
        blocks = zip(self._tops, self._counts, strict=True)
        self._ties = sum([count for top, count in blocks if top == self._best])

    def __len__(self) -> int:
        return self._ties

    def __getitem__(self, number: int) -> int:
        for block, top in enumerate(self._tops):
            if top == self._best:
                count = self._counts[block]
                if number < count:
                    start = block * BLOCK
                    part = self._column[start : start + BLOCK] == top
                    return start + int(part.nonzero()[0][number])
                number -= count
        raise IndexError("there are not so many best rows")

    def tolist(self) -> list[int]:
        rows: list[int] = (self._column == self._best).nonzero()[0].tolist()
        return rows


def _find_leading(part: Ints) -> tuple[int, int]:
    """The highest value, and how often it is there."""
    top = part.max()
    return int(top), int((part == top).sum())


class BestRows(Protocol):
    """Rows that are equally good, in order."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> int: ...

    def tolist(self) -> list[int]: ...


class Totals(NamedTuple):
    """`leaders` are the best of the whole table, where they are known and all of it is feasible."""

    column: Column
    leaders: Leaders | None = None

    def read(self) -> Ints:
        return read(self.column)

    def best(self, rows: npt.NDArray[np.intp]) -> BestRows:
        """The best of the rows that the totals are for; to be looked at at once."""
        if self.leaders is not None:
            return self.leaders
        return best_rows(live(self.column), rows)


def best_rows(total: Ints, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    best: npt.NDArray[np.intp] = rows[(total == total.max()).nonzero()[0]]
    return best


MAX_BYTES = 64 * 1024 * 1024

Parts = Sequence[Ints]


class Tally:
    """Constants and the remembered scores beside them, added up."""

    __slots__ = ("_constants", "_seen", "leaders", "total")

    def __init__(self, constants: Ints, parts: Parts, now: TableMoment) -> None:
        self._constants = constants
        self._seen = now
        self.total = ColumnVersion(self._sum(parts))
        self.leaders: Leaders | None = None
        """The best rows of all; there while pods of a burst change a row or two each."""

    def _sum(self, parts: Parts) -> Ints:
        total = self._constants.copy()
        for part in parts:
            total += part
        return total

    def follow(self, parts: Parts, cycle: Cycle, changes: RowChanges) -> None:
        """Catch up with the parts, which have caught up with the cluster."""
        nodes, usage = cycle.nodes, cycle.usage
        then, self._seen = self._seen, changes.now(nodes, usage)
        stale = changes.since(then, nodes, usage)
        # Leaders are worth their upkeep only while a burst changes a row or two between attempts.
        if stale is None:
            self.total, self.leaders = ColumnVersion(self._sum(parts)), None
        elif len(stale.rows) <= FEW:
            self._change_some(stale.rows, parts)
        else:
            rows = stale.array
            values = self._constants[rows]
            for part in parts:
                values += part[rows]
            self.total, self.leaders = self.total.with_values(rows, values), None

    def _change_some(self, rows: list[int], parts: Parts) -> None:
        if rows:
            column = self.total.live
            were = [column.item(row) for row in rows]
            now = [sum([p.item(row) for p in parts], self._constants.item(row)) for row in rows]
            self.total = self.total.with_values(rows, now)
            if self.leaders is not None:
                self.leaders.update_rows(self.total.live, rows, were)
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
        self, key: Hashable, constants: Ints, parts: Parts, cycle: Cycle, changes: RowChanges
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
