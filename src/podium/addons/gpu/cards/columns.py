"""Arrays over nodes, and over nodes and the places of their cards."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

T = TypeVar("T", bound="np.generic[object]")


def enlarge(column: npt.NDArray[T], shape: tuple[int, ...], fill: int) -> npt.NDArray[T]:
    """A copy with more room on any axis."""
    larger = np.full(shape, fill, column.dtype)
    larger[tuple(slice(size) for size in column.shape)] = column
    return larger
