"""Nodes grouped into topology domains, and pods counted per domain.

PodTopologySpread and InterPodAffinity both ask "how many such pods are in this node's zone": a
topology key divides the nodes into domains, pods per node are added up per domain, and every node
reads its domain's total. A `Topology` numbers the domains of one key without gaps, so that adding
up is one `bincount` and reading is one gather. Slot 0 is for nodes without the label; it is no
domain and always reads as 0.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.nodes import NodeTable

Slots = npt.NDArray[np.intp]


class Topology(NamedTuple):
    """How one label key divides the rows of the node table. Every domain has a row."""

    key: str
    slots: Slots
    """By row: 0 without the label, otherwise the number of the row's domain, from 1."""
    domain_count: int
    complete: bool
    """Whether every row of the table has the label."""
    unnamed: int
    """The slot of the domain whose value is the empty text; 0 if there is none."""

    def no_pods(self) -> Ints:
        """Sums per slot where nobody is."""
        return np.zeros(self.domain_count + 1, dtype=np.int64)

    def totals(self, per_row: Ints, eligible: Mask | None = None) -> Ints:
        """Sums per slot over the eligible rows (None: all of them)."""
        counted = per_row[: len(self.slots)]
        if eligible is not None:
            counted = counted * eligible
        # Sums are made in float64, which is exact far beyond any number of pods.
        sums = np.bincount(self.slots, weights=counted, minlength=self.domain_count + 1)
        totals = sums.astype(np.int64)
        totals[0] = 0
        return totals

    def inhabited(self, eligible: Mask) -> Mask:
        """Which slots have an eligible row; slot 0 never counts."""
        found: Mask = np.zeros(self.domain_count + 1, dtype=np.bool_)
        found[self.slots[eligible]] = True
        found[0] = False
        return found


class Topologies:
    """The topologies in use, each renewed when a node's label or the table's size changed."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: dict[str, tuple[int, int, Topology]] = {}
        self._nowhere: Topology | None = None

    @property
    def capacity(self) -> int:
        """Rows that a column has room for."""
        return self._nodes.capacity

    def of(self, key: str) -> Topology:
        column = self._nodes.labels.column(key)
        size = self._nodes.size
        if not len(column.values):
            return self._of_no_node(key, size)
        known = self._known.get(key)
        if known is not None and known[0] == column.version and known[1] == size:
            return known[2]
        places = column.codes[:size].astype(np.intp) + 1
        # A value keeps its code for good, also when no node has it any more: number them anew.
        used = np.zeros(len(column.values) + 1, dtype=np.bool_)
        used[places] = True
        complete = not used[0]
        used[0] = True
        number = np.cumsum(used, dtype=np.intp) - 1
        unnamed = column.values.find("") + 1
        topology = Topology(
            key=key,
            slots=number[places],
            domain_count=int(number[-1]),
            complete=complete,
            unnamed=int(number[unnamed]) if used[unnamed] else 0,
        )
        self._known[key] = (column.version, size, topology)
        return topology

    def _of_no_node(self, key: str, size: int) -> Topology:
        """That of a key that no node ever had; pods may name any number of them."""
        found = self._nowhere
        if found is None or len(found.slots) != size:
            slots: Slots = np.zeros(size, dtype=np.intp)
            found = self._nowhere = Topology(key, slots, 0, not size, 0)
        return found._replace(key=key)


class DomainCounts:
    """Pods per domain of one topology, as a trial may change them; clones share until then."""

    __slots__ = ("_shared", "_totals", "topology")

    def __init__(self, topology: Topology, totals: Ints, *, shared: bool = False) -> None:
        self.topology = topology
        self._totals = totals
        self._shared = shared

    @property
    def totals(self) -> Ints:
        """By slot; not to be written to."""
        return self._totals

    def of(self, rows: Rows) -> Ints:
        """Each row's count; 0 without the label."""
        return self._totals[self.topology.slots[rows]]

    def shift(self, row: int, delta: int) -> None:
        """Count a pod more or less in a row's domain; a row without the label has none."""
        slot = self.topology.slots[row]
        if slot == 0:
            return
        if self._shared:
            self._totals = self._totals.copy()
            self._shared = False
        self._totals[slot] += delta

    def clone(self) -> "DomainCounts":
        self._shared = True
        return DomainCounts(self.topology, self._totals, shared=True)
