"""On how many nodes pods were, over time: what packing saves.

Pods that belong to their node do not count, those of daemon sets and kubelets: a node that has only
such could go.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Stay(NamedTuple):
    """A pod is on a node for a time."""

    node: str
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Nodes with pods: on average, and most at one time."""

    mean: float
    most: int


def measure_node_use(stays: Iterable[Stay], duration_s: float) -> NodeUse:
    """
    >>> measure_node_use([Stay("a", 0, 10), Stay("b", 5, 10), Stay("b", 6, 7)], 10)
    NodeUse(mean=1.5, most=2)
    """
    changes = [
        (at, step, stay.node)
        for stay in stays
        if stay.from_s < min(stay.until_s, duration_s)
        for at, step in ((stay.from_s, 1), (min(stay.until_s, duration_s), -1))
    ]
    # At one moment pods go before others come.
    changes.sort(key=lambda change: change[:2])
    pods: Counter[str] = Counter()
    used = most = 0
    total = last = 0.0
    for at, step, node in changes:
        total += used * (at - last)
        last = at
        was_used = pods[node] > 0
        pods[node] += step
        used += (pods[node] > 0) - was_used
        most = max(most, used)
    return NodeUse(round(total / duration_s, 4) if duration_s else 0.0, most)
