"""Which nodes an attempt looks at, and in which order.

Vectors make it cheap to look at every node, so that is what happens unless a percentage is
configured. Then upstream's rules apply: enough feasible nodes are found from a rotating start, and
the search ends when one more than enough turns up (engine spec 5.3).
"""

import numpy as np
import numpy.typing as npt

from podium.cluster.growth import Rows
from podium.cluster.state import Cluster
from podium.framework.diagnosis import FilterResult

FEWEST_TO_FIND = 100


def nodes_to_find(count: int, percentage: int) -> int:
    """How many feasible nodes are enough. 0 percent stands for "not configured": all."""
    if count < FEWEST_TO_FIND or percentage == 0:
        return count
    return max(FEWEST_TO_FIND, count * percentage // 100)


def whole_table(cluster: Cluster) -> Rows:
    """All nodes: the table itself if every row shows a node, else the rows that do."""
    return cluster.nodes.all_rows() if cluster.nodes.dense() else cluster.node_order()


def rotated(rows: npt.NDArray[np.intp], start: int) -> npt.NDArray[np.intp]:
    at = start % len(rows)
    return rows if at == 0 else np.concatenate((rows[at:], rows[:at]))


def stop_early(result: FilterResult, want: int) -> None:
    """Cut a search result where a sequential search would have stopped: before the first feasible
    node beyond those wanted."""
    feasible = np.flatnonzero(result.passed())
    if len(feasible) > want:
        result.cut(int(feasible[want]))
