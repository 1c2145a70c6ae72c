"""The rows with the highest value of a column, known without looking at all of it.

Between two pods a row or two change, and among thousands of equal nodes the best ones stay the
best. The column is divided into blocks with the highest value of each and how many rows have it; a
change concerns one block. `tolist` is the plain form: everything that equals the maximum.
"""

from collections.abc import Sequence

from podium.scheduler.cluster.growth import Ints

BLOCK = 512


class Leaders:
    """The best rows of a column, in order: `len`, the k-th, or all of them."""

    __slots__ = ("_best", "_column", "_counts", "_ties", "_tops")

    def __init__(self, column: Ints) -> None:
        self._column = column
        self._tops: list[int] = []
        self._counts: list[int] = []
        for start in range(0, len(column), BLOCK):
            top, count = _leading(column[start : start + BLOCK])
            self._tops.append(top)
            self._counts.append(count)
        self._elect()

    def changed(self, column: Ints, rows: Sequence[int], were: Sequence[int]) -> None:
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
        self._set(block, *_leading(self._column[block * BLOCK : (block + 1) * BLOCK]))

    def _set(self, block: int, top: int, count: int) -> None:
        led = self._counts[block] if self._tops[block] == self._best else 0
        self._tops[block], self._counts[block] = top, count
        leads = count if top == self._best else 0
        self._ties += leads - led
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


def _leading(part: Ints) -> tuple[int, int]:
    """The highest value, and how often it is there."""
    top = part.max()
    return int(top), int((part == top).sum())
