"""The weighted totals of an attempt, and the best rows by them."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.framework.leaders import Leaders
from podium.scheduler.framework.versions import Column, live, read


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
