"""Cards that are held for pods whose objects do not say so yet.

A decision is made at Reserve and written at PreBind; until the pod's own object tells of it, this
is all that is known of it. Profiles of one scheduler share the cards of one cluster, so they share
this too.

A decision that was written and then taken back stands on the pod until the API server has heard of
that: such pods are *withdrawn*, and what stands on them counts nothing.
"""

from collections.abc import Container, Mapping
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import PodWrite
from podium.plugin import Cluster
from podium.scheduler.cluster.growth import ChangeLog


class Reservation:
    """`written` is what was sent to the API server, whether it arrived or not; `lock` is the
    value of the node's lock that was taken for the pod, if one was."""

    __slots__ = ("allocation", "lock", "node", "request", "uses", "written")

    def __init__(self, node: str, request: PodRequest, allocation: Allocation) -> None:
        self.node = node
        self.request = request
        self.choose(allocation)
        self.written: PodWrite | None = None
        self.lock = ""

    def choose(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.uses: Mapping[int, CardUse] = card_uses(allocation)


class Reservations(dict[str, Reservation]):
    """By the uid of the pod, in the order of the decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.withdrawn: dict[str, dict[str, float]] = {}
        """By the node that the decision names: uids, and until when it could count at all."""
        self.log = ChangeLog()
        self._next_lapse = inf

    def untold(self, first: str) -> list[tuple[str, Reservation]]:
        """Of which nothing was written yet on the node of one of them, that one first."""
        node = self[first].node
        found = [
            (uid, each) for uid, each in self.items() if each.node == node and each.written is None
        ]
        return sorted(found, key=lambda pair: pair[0] != first)

    def withdraw(self, uid: str, node: str, row: int, until: float) -> None:
        """What stands on the pod for this node, on this row if it has one, counts no longer."""
        self.withdrawn.setdefault(node, {})[uid] = until
        self._next_lapse = min(self._next_lapse, until)
        self.log.note(row)

    def keep_withdrawn(self, node: str, uids: Container[str]) -> None:
        """Of the pods that were withdrawn from a node only these have something written still."""
        left = {uid: at for uid, at in self.withdrawn.pop(node, {}).items() if uid in uids}
        if left:
            self.withdrawn[node] = left

    def forget_withdrawn(self, now: float) -> None:
        """Those whose decisions could not count any more in any case."""
        if now <= self._next_lapse:
            return
        for node, uids in list(self.withdrawn.items()):
            self.keep_withdrawn(node, {uid for uid, until in uids.items() if until >= now})
        untils = (until for uids in self.withdrawn.values() for until in uids.values())
        self._next_lapse = min(untils, default=inf)


_OF_CLUSTERS: Final[WeakKeyDictionary[Cluster, dict[str, Reservations]]] = WeakKeyDictionary()


def reservations_of(cluster: Cluster, dialect: str) -> Reservations:
    """Those of one scheduler in one dialect."""
    return _OF_CLUSTERS.setdefault(cluster, {}).setdefault(dialect, Reservations())
