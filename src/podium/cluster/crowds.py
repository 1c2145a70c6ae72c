"""Where nominated pods stand in the way, and what usage looks like with them in place.

Filters must pass twice on a node with nominated pods of the same or a higher priority: as it is,
and with these pods on it (engine spec 5.4). While a burst of pods preempts there are hundreds of
such nodes, and from one attempt to the next a few of them change. So the nodes and the imagined
usage are kept per priority and brought up to date by what changed.
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from podium.cluster.nodes import NodeTable
from podium.cluster.nominator import Nominator
from podium.cluster.pod_info import PodInfo
from podium.cluster.shadow import Shadow
from podium.cluster.usage import Usage

MOST_PRIORITIES = 4

Rivals = Mapping[int, tuple[PodInfo, ...]]


class Crowd:
    """Rows of nodes with nominated pods that some pod must leave room for. A value."""

    def __init__(self, rivals: Rivals) -> None:
        self.rivals = rivals

    def __bool__(self) -> bool:
        return bool(self.rivals)

    @cached_property
    def rows(self) -> npt.NDArray[np.intp]:
        return np.fromiter(sorted(self.rivals), dtype=np.intp, count=len(self.rivals))

    def without(self, row: int, uid: str) -> "Crowd":
        """The same as a pod sees it that is nominated itself."""
        pods = self.rivals.get(row, ())
        others = tuple([pod for pod in pods if pod.uid != uid])
        if len(others) == len(pods):
            return self
        rivals = dict(self.rivals)
        if others:
            rivals[row] = others
        else:
            del rivals[row]
        return Crowd(rivals)


NOBODY = Crowd({})


class _OfPriority:
    """The crowd that pods of one priority meet."""

    def __init__(self, priority: int, usage: Usage) -> None:
        self.priority = priority
        self.crowd = NOBODY
        self.nominations_seen = -1
        self.membership = -1
        self.shadow = Shadow(usage)
        self.imagined: dict[int, tuple[PodInfo, ...]] = {}
        """What the shadow has on its rows beside what is there."""


class Crowds:
    def __init__(self, nodes: NodeTable, usage: Usage, nominator: Nominator) -> None:
        self._nodes = nodes
        self._usage = usage
        self._nominator = nominator
        self._by_priority: OrderedDict[int, _OfPriority] = OrderedDict()

    def met_by(self, info: PodInfo) -> Crowd:
        """The nodes on which a pod must leave room for others."""
        if not self._nominator:
            return NOBODY
        crowd = self._of(info.priority).crowd
        own = self._nominator.node_of(info.uid)
        return crowd.without(self._nodes.row(own), info.uid) if own else crowd

    def usage_met_by(self, info: PodInfo) -> Usage:
        """Usage with these others in place; good until the next call."""
        held = self._of(info.priority)
        crowd = self.met_by(info)
        wrong = held.shadow.follow()
        if wrong is None:
            held.imagined = {}
        else:
            for row in wrong:
                held.imagined.pop(row, None)
        usage = held.shadow.usage
        differing = [r for r, pods in held.imagined.items() if crowd.rivals.get(r) != pods]
        if differing:
            usage.reset_rows(differing, self._usage)
            for row in differing:
                del held.imagined[row]
        for row in crowd.rivals.keys() - held.imagined.keys():
            held.imagined[row] = pods = crowd.rivals[row]
            for pod in pods:
                usage.add(row, pod)
        return usage

    def _of(self, priority: int) -> _OfPriority:
        held = self._by_priority.get(priority)
        if held is None:
            held = self._by_priority[priority] = _OfPriority(priority, self._usage)
            if len(self._by_priority) > MOST_PRIORITIES:
                self._by_priority.popitem(last=False)
        self._by_priority.move_to_end(priority)
        self._catch_up(held)
        return held

    def _catch_up(self, held: _OfPriority) -> None:
        nominator, nodes = self._nominator, self._nodes
        if (held.nominations_seen, held.membership) == (nominator.version, nodes.membership):
            return
        changed = nominator.changed_since(held.nominations_seen)
        if held.membership != nodes.membership or changed is None:
            rivals: dict[int, tuple[PodInfo, ...]] = {}
            changed = nominator.node_names()
        else:
            rivals = dict(held.crowd.rivals)
        for name in filter(nodes.is_present, changed):
            strong = tuple([p for p in nominator.on_node(name) if p.priority >= held.priority])
            if strong:
                rivals[nodes.row(name)] = strong
            else:
                rivals.pop(nodes.row(name), None)
        held.crowd = Crowd(rivals)
        held.nominations_seen, held.membership = nominator.version, nodes.membership
