"""Where nominated pods stand in the way, and what usage looks like with them in place.

Filters must pass twice on a node with nominated pods of the same or a higher priority: as it is,
and with these pods on it (`pkg/scheduler/framework/runtime/framework.go`, `addGENominatedPods`).
While a burst of pods preempts there are hundreds of such nodes, and from one attempt to the next a
few of them change. So the nodes and the imagined usage are kept per priority and brought up to date
by what changed.
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.nominator import Nominator
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.shadow import Shadow
from podium.scheduler.cluster.usage import Usage

MAX_PRIORITIES = 4

PodsByRow = Mapping[int, tuple[PodInfo, ...]]


class NominatedPods:
    """Rows of nodes with nominated pods that some pod must leave room for. A value."""

    def __init__(self, by_row: PodsByRow) -> None:
        self.by_row = by_row

    def __bool__(self) -> bool:
        return bool(self.by_row)

    @cached_property
    def rows(self) -> npt.NDArray[np.intp]:
        return np.fromiter(sorted(self.by_row), dtype=np.intp, count=len(self.by_row))

    def without(self, row: int, uid: str) -> "NominatedPods":
        """The same as a pod sees it that is nominated itself."""
        pods = self.by_row.get(row, ())
        others = tuple([pod for pod in pods if pod.uid != uid])
        if len(others) == len(pods):
            return self
        by_row = dict(self.by_row)
        if others:
            by_row[row] = others
        else:
            del by_row[row]
        return NominatedPods(by_row)


NO_NOMINATED_PODS = NominatedPods({})


class _OfPriority:
    """The nominated pods that pods of one priority meet."""

    def __init__(self, priority: int, usage: Usage) -> None:
        self.priority = priority
        self.nominated = NO_NOMINATED_PODS
        self.nominations_seen = -1
        self.membership = -1
        self.shadow = Shadow(usage)
        self.imagined: dict[int, tuple[PodInfo, ...]] = {}
        """What the shadow has on its rows beside what is there."""


class NominatedPodsByPriority:
    def __init__(self, nodes: NodeTable, usage: Usage, nominator: Nominator) -> None:
        self._nodes = nodes
        self._usage = usage
        self._nominator = nominator
        self._by_priority: OrderedDict[int, _OfPriority] = OrderedDict()

    def met_by(self, info: PodInfo) -> NominatedPods:
        """The nodes on which a pod must leave room for others."""
        if not self._nominator:
            return NO_NOMINATED_PODS
        nominated = self._of(info.priority).nominated
        own = self._nominator.node_of(info.uid)
        return nominated.without(self._nodes.row(own), info.uid) if own else nominated

    def usage_met_by(self, info: PodInfo) -> Usage:
        """Usage with these others in place; good until the next call."""
        held = self._of(info.priority)
        nominated = self.met_by(info)
        wrong = held.shadow.follow()
        if wrong is None:
            held.imagined = {}
        else:
            for row in wrong:
                held.imagined.pop(row, None)
        usage = held.shadow.usage
        differing = [r for r, pods in held.imagined.items() if nominated.by_row.get(r) != pods]
        if differing:
            usage.reset_rows(differing, self._usage)
            for row in differing:
                del held.imagined[row]
        for row in nominated.by_row.keys() - held.imagined.keys():
            held.imagined[row] = pods = nominated.by_row[row]
            for pod in pods:
                usage.add(row, pod)
        return usage

    def _of(self, priority: int) -> _OfPriority:
        held = self._by_priority.get(priority)
        if held is None:
            held = self._by_priority[priority] = _OfPriority(priority, self._usage)
            if len(self._by_priority) > MAX_PRIORITIES:
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
            by_row: dict[int, tuple[PodInfo, ...]] = {}
            changed = nominator.node_names()
        else:
            by_row = dict(held.nominated.by_row)
        for name in filter(nodes.is_present, changed):
            strong = tuple([p for p in nominator.on_node(name) if p.priority >= held.priority])
            if strong:
                by_row[nodes.row(name)] = strong
            else:
                by_row.pop(nodes.row(name), None)
        held.nominated = NominatedPods(by_row)
        held.nominations_seen, held.membership = nominator.version, nodes.membership
