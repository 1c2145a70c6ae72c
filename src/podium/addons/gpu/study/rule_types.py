"""Types of what the packing rules take, as `cuda_source` reads them: 32 bits a number on GPUs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from podium.addons.gpu.cards.columns import Floats

__all__ = ["Bits", "BitsColumn", "Floats", "Ints", "OutInts", "OutSmallInts"]

Bits = int
"""A set of models: 64 bits."""
Ints = npt.NDArray[np.integer[Any]]
BitsColumn = npt.NDArray[np.int64]
OutInts = npt.NDArray[np.integer[Any]]
"""Written by the rule."""
OutSmallInts = npt.NDArray[np.int8]
