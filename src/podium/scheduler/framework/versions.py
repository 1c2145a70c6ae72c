"""A column that is changed in place and whose past can still be read.

From one pod to the next a row or two of a column change, and whoever kept the column as it was (a
decision, for those who ask later) must not see that. A copy for every change costs more than all
that is done with it. So the newest version has the array, and a version before it has the few
values by which it differs from the next: reading the past takes the newest array and undoes what
happened since. After many changes the array is copied once after all, so that no way back is long.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Ints

MAX_STEPS = 256
_PAST = "a version that is past has no array of its own"

ChangedRows = Sequence[int] | npt.NDArray[np.intp]


class Version:
    """A column at one moment."""

    __slots__ = ("_array", "_newer", "_rows", "_steps", "_values")

    def __init__(self, array: Ints, steps: int = 0) -> None:
        self._array: Ints | None = array
        self._steps = steps
        self._newer: Version | None = None
        self._rows: ChangedRows = ()
        self._values: Sequence[int] | Ints = ()

    @classmethod
    def of_another(cls, array: Ints) -> "Version":
        """Of an array that is not to be changed; the first change makes a copy of it."""
        return cls(array, MAX_STEPS)

    @property
    def live(self) -> Ints:
        """The array itself, which only the newest version has: look at it, do not keep it."""
        if self._array is None:
            raise LookupError(_PAST)
        return self._array

    def read(self) -> Ints:
        """A copy of the column as it was at this moment."""
        past: list[Version] = []
        version = self
        while version._newer is not None:
            past.append(version)
            version = version._newer
        column = version.live.copy()
        for older in reversed(past):
            column[older._rows] = older._values
        return column

    def changed(self, rows: ChangedRows, values: Sequence[int] | Ints) -> "Version":
        """The next version, with other values at some rows; this one becomes past."""
        array = self._array
        if array is None:
            raise LookupError(_PAST)
        steps = self._steps
        if steps >= MAX_STEPS:
            array = array.copy()
            array[rows] = values
            return Version(array)
        newer = Version(array, steps + 1)
        if len(rows) == 1:
            row = rows[0]
            self._values = (array.item(row),)
            array[row] = values[0]
        else:
            self._values = array[rows]
            array[rows] = values
        self._rows, self._newer, self._array = rows, newer, None
        return newer


Column = Ints | Version


def read(column: Column) -> Ints:
    return column.read() if isinstance(column, Version) else column


def live(column: Column) -> Ints:
    return column.live if isinstance(column, Version) else column
