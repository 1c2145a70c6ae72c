"""What was measured of each node, in one form whoever measured it.

Percentages are of a node's capacity. A metrics server tells amounts instead; what part of the
capacity they are is worked out beside the node (`load_columns.py`).
"""

import math
from collections.abc import Mapping
from typing import NamedTuple


class NodeLoad(NamedTuple):
    """Averages and standard deviations; NaN where nothing is known."""

    cpu: float = math.nan
    cpu_deviation: float = 0.0
    memory: float = math.nan
    memory_deviation: float = 0.0


class Loads(NamedTuple):
    nodes: Mapping[str, NodeLoad]
    window_end: float
    """Up to when was measured, in seconds since 1970: what started later is not in it."""
    in_percent: bool = True
    """False: milli-cores and bytes."""
