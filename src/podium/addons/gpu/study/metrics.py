"""What a run is judged by: allocation and fragmentation at each percent of demand that has arrived.

A cell is the mean over all arrivals whose demand so far rounds to its percentage; where there are
none, over those that round to a neighbour of it.
"""

from dataclasses import dataclass

import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.study.numpy_engine import NO_NODE, Placements
from podium.addons.gpu.study.traces import Trace

COLUMNS = 131
"""0 to 130 % of the cluster's GPUs asked for."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """A value for each percentage of demand; NaN where nothing arrived near it."""

    allocation: Floats
    """% of the cluster's GPUs."""
    fragmentation_ratio: Floats
    """% of idle GPU."""
    fragmentation_amount: Floats
    """% of the cluster's GPUs."""


def measure(trace: Trace, stream: Ints, placements: Placements) -> Metrics:
    capacity = trace.nodes.gpu_milli
    demand = trace.pods.demand_milli[stream]
    arrived = np.cumsum(demand) / capacity * 100
    used = np.cumsum(np.where(placements.rows != NO_NODE, demand, 0))
    fragments = placements.fragments_milli
    idle = capacity - used
    ratio = np.where(idle > 0, 100 * fragments / np.maximum(idle, 1), 0.0)
    columns = np.rint(arrived).astype(np.int64)
    amount = _cells(columns, fragments.round(2)) / capacity * 100
    return Metrics(
        _cells(columns, (used / capacity * 100).round(2)).round(2),
        _cells(columns, ratio.round(2)),
        amount.round(2),
    )


def _cells(columns: Ints, values: Floats) -> Floats:
    inside = columns < COLUMNS + 1
    count: Floats = np.bincount(columns[inside], minlength=COLUMNS + 1).astype(np.float64)
    total = np.bincount(columns[inside], values[inside], minlength=COLUMNS + 1).astype(np.float64)
    near_count, near_total = _with_neighbours(count), _with_neighbours(total)
    chosen_count = np.where(count > 0, count, near_count)[:COLUMNS]
    chosen_total = np.where(count > 0, total, near_total)[:COLUMNS]
    cells: Floats = np.full(COLUMNS, np.nan)
    np.divide(chosen_total, chosen_count, out=cells, where=chosen_count > 0)
    return cells


def _with_neighbours(values: Floats) -> Floats:
    around = np.pad(values, 1)
    together: Floats = around[:-2] + around[1:-1] + around[2:]
    return together
