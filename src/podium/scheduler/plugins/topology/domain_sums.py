"""Pods per topology domain, kept by deltas.

Spread constraints and affinity terms of one kind are asked about for every pod of a burst, and from
one pod to the next a single row has changed. So the sums of a counter over the domains of a
topology are kept and moved by what the counter has seen since. Sums that were handed out never
change: an update makes new ones. Sums over some of the rows only are made anew each time.
"""

from collections import OrderedDict

from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_classes import PodClasses, PodCounter
from podium.scheduler.plugins.topology.domains import Slots, Topology

MAX_BYTES = 32 * 1024 * 1024


class _Sums:
    __slots__ = ("counter", "seen", "slots", "totals")

    def __init__(self, counter: PodCounter, slots: Slots, totals: Ints) -> None:
        self.counter = counter
        self.slots = slots
        self.totals = totals
        self.seen = counter.version


class DomainSums:
    """Bounded in bytes; the least recently used go first."""

    def __init__(self, classes: PodClasses, most_bytes: int = MAX_BYTES) -> None:
        self._classes = classes
        self._most_bytes = most_bytes
        self._known: OrderedDict[tuple[int, str], _Sums] = OrderedDict()
        self.nbytes = 0

    def of(self, counter: PodCounter, topology: Topology, eligible: Mask | None = None) -> Ints:
        """By slot, over the eligible rows (None: all of them); not to be written to."""
        if eligible is not None:
            return topology.totals(self._classes.column(counter), eligible)
        key = (id(counter), topology.key)
        known = self._known.get(key)
        if known is not None and known.counter is counter and known.slots is topology.slots:
            self._known.move_to_end(key)
            if known.seen == counter.version:
                return known.totals
            changes = counter.since(known.seen)
            if changes is not None:
                known.seen = counter.version
                known.totals = _moved(known, changes)
                return known.totals
        totals = topology.totals(self._classes.column(counter))
        counter.follow()
        self._keep(key, _Sums(counter, topology.slots, totals))
        return totals

    def _keep(self, key: tuple[int, str], sums: _Sums) -> None:
        old = self._known.pop(key, None)
        if old is not None:
            self.nbytes -= old.totals.nbytes
        self._known[key] = sums
        self.nbytes += sums.totals.nbytes
        while self.nbytes > self._most_bytes and len(self._known) > 1:
            _, gone = self._known.popitem(last=False)
            self.nbytes -= gone.totals.nbytes


def _moved(sums: _Sums, changes: list[tuple[int, int]]) -> Ints:
    totals = sums.totals.copy()
    for row, delta in changes:
        slot = sums.slots[row]
        if slot:
            totals[slot] += delta
    return totals
