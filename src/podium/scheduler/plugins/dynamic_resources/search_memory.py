"""Answers of the search, remembered by question and node.

Pods of one template ask the same question of every node, and between two of them little changes:
the devices of one pool were taken, a node came. A question's answers are kept as columns over the
node table, and rows whose node, slices or pools have changed are forgotten before each use.
"""

from collections import OrderedDict
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import wider
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.supply import Supply

UNKNOWN, SERVED, NOT_SERVED, INVALID_POOLS, TIMED_OUT = range(5)

_MAX_QUESTIONS = 64

Answer = tuple[int, int]
"""(one of the codes above, points of the alternatives that were chosen)"""


class Answers:
    """What is known about one question: a code and points for each row."""

    def __init__(self) -> None:
        self.codes: npt.NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.points: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.by_kind: dict[Hashable, Answer] = {}
        """Answers for nodes that have the same devices, as far as a search can see."""
        self._supply_version = -1
        self._node_generation = 0
        self._sequence = 0

    def catch_up(self, nodes: NodeTable, supply: Supply, devices: AllocatedDevices) -> None:
        """Forget what may not be true any more."""
        touched = devices.touched_since(self._sequence)
        if supply.version != self._supply_version or touched is None:
            self.codes[:] = UNKNOWN
            self.by_kind.clear()
        else:
            for pool in touched:
                rows = supply.rows_of(pool)
                if rows:
                    self.codes[list(rows)] = UNKNOWN
        if nodes.capacity > len(self.codes):
            self.codes = wider(self.codes, nodes.capacity)
            self.points = wider(self.points, nodes.capacity)
        self.codes[nodes.changed_since(self._node_generation)] = UNKNOWN
        self._supply_version = supply.version
        self._node_generation = nodes.generation
        self._sequence = devices.sequence

    def put(self, row: int, answer: Answer) -> None:
        self.codes[row], self.points[row] = answer


class SearchMemory:
    """Answers by question; the least recently asked is forgotten first."""

    def __init__(self, nodes: NodeTable, supply: Supply, devices: AllocatedDevices) -> None:
        self._nodes = nodes
        self._supply = supply
        self._devices = devices
        self._answers: OrderedDict[bytes, Answers] = OrderedDict()

    def answers(self, key: bytes) -> Answers:
        """The answers to a question, up to date."""
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = Answers()
            if len(self._answers) > _MAX_QUESTIONS:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(key)
        found.catch_up(self._nodes, self._supply, self._devices)
        return found
