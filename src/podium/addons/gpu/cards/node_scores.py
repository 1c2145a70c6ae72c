"""Which of the nodes that a pod fits is the best, by the policy that the pod asks for.

Values are integers, so that equal nodes are equal on every machine. The share that is used of a
node counts in millionths: with 1 of 20 slots, 30 of 200 cores and 8 of 32 GiB used, the value is
50000 + 150000 + 250000. Policies by cores put free cores first and free memory second, as in
(free cores, free memory) of generation B, whose names break ties; that is left to the caller.
"""

from typing import Any, Final

import numpy as np

from podium.addons.gpu.cards.card_rules import PARTS
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.cards.requests import NodePolicy, PodRequest

MAX_SCORE: Final = 10
"""Of an extender; a plugin's scores are ten times as much."""

_CORES_FIRST: Final = 1 << 40


def node_values(table: CardTable, rows: Ints | None, request: PodRequest) -> Ints:
    """How much each row is worth as it is now, higher for better; all rows of the table with None.

    A fullest node comes first if policies pack, an emptiest if they spread.
    """
    at: Any = slice(0, table.rows) if rows is None else rows
    policy = request.node_policy
    if policy is NodePolicy.NONE:
        return np.zeros(len(table.refusal[at]), np.int64)
    cores, used_cores = _sum(table.cores, at), _sum(table.used_cores, at)
    memory, used_memory = _sum(table.memory, at), _sum(table.used_memory, at)
    if policy in (NodePolicy.FULLEST_BY_CORES, NodePolicy.EMPTIEST_BY_CORES):
        free = (cores - used_cores) * _CORES_FIRST + (memory - used_memory)
        return free if policy is NodePolicy.EMPTIEST_BY_CORES else -free
    used = (
        _share(_sum(table.used_slots, at), _sum(table.slots, at))
        + _share(used_cores, cores)
        + _share(used_memory, memory)
    )
    return -used if policy is NodePolicy.SPREAD else used


def scores(values: Ints) -> Ints:
    """0 to 10 by where a value lies between the smallest and the largest, rounded down; all have
    10 if they are equal. Only the best have 10 otherwise, so that the first place is exact."""
    if not len(values):
        return values
    low = values.min()
    span = int(values.max()) - int(low)
    if span == 0:
        return np.full(len(values), MAX_SCORE, np.int64)
    result: Ints = MAX_SCORE * (values - low) // span
    return result


def _sum(column: Ints, at: Any) -> Ints:
    total: Ints = column[at].sum(axis=1)
    return total


def _share(used: Ints, of: Ints) -> Ints:
    return used * PARTS // np.maximum(of, 1)
