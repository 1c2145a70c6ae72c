"""Nominated pods: which hold a node, and what usage looks like with them in place.

Filters must pass twice on a node with nominated pods of the same or a higher priority: as it is,
and with these pods on it (`pkg/scheduler/framework/runtime/framework.go`, `addGENominatedPods`).
While a burst of pods preempts there are hundreds of such nodes, and from one attempt to the next a
few of them change. So the nodes and the imagined usage are kept per priority and brought up to date
by what changed.

Pending pods that hold a node: the nominations that filters must respect. A nomination reserves room
for a pod that is not there yet (its victims still leave, or somebody else chose the node for it).
Order per node is order of arrival.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.usage import Shadow, Usage

_MAX_REMEMBERED = 4096


class Nominator:
    def __init__(self) -> None:
        self.version = 0
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._changed: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._by_node)

    def nominate(self, info: PodInfo, node_name: str) -> None:
        """Set a pod's nomination, replacing an earlier one."""
        self.drop(info.uid)
        self._note(node_name)
        self._by_node.setdefault(node_name, {})[info.uid] = info
        self._node_of[info.uid] = node_name

    def drop(self, uid: str) -> None:
        node_name = self._node_of.pop(uid, None)
        if node_name is not None:
            self._note(node_name)
            pods = self._by_node[node_name]
            del pods[uid]
            if not pods:
                del self._by_node[node_name]

    def follow(self, old: PodInfo | None, new: PodInfo) -> None:
        """Be true to a pod's object; if neither object names a node, keep what is."""
        name = new.pod.status.nominated_node_name
        if not name and old is not None and not old.pod.status.nominated_node_name:
            name = self.node_of(new.uid)
        if name:
            self.nominate(new, name)
        else:
            self.drop(new.uid)

    def strip(self, info: PodInfo) -> None:
        """Leave only a pod's name on its node: it counts as a pod that asks for nothing.

        upstream: the object of a nominated pod is looked up in the queue, so for one that was
        taken out of it only the reference is left.
        """
        node_name = self._node_of.get(info.uid)
        if node_name is not None:
            self._note(node_name)
            self._by_node[node_name][info.uid] = _bare(info)

    def restore(self, info: PodInfo) -> None:
        """Give a pod that is in no queue the nomination back that its object speaks of."""
        if info.pod.status.nominated_node_name:
            self.nominate(_bare(info), info.pod.status.nominated_node_name)

    def node_of(self, uid: str) -> str:
        """The node a pod is nominated to, or an empty string."""
        return self._node_of.get(uid, "")

    def __iter__(self) -> Iterator[tuple[PodInfo, str]]:
        """All nominated pods with their nodes."""
        return (
            (info, name) for name, pods in tuple(self._by_node.items()) for info in pods.values()
        )

    def on_node(self, node_name: str) -> Sequence[PodInfo]:
        return tuple(self._by_node.get(node_name, {}).values())

    def node_names(self) -> Sequence[str]:
        """The nodes that somebody is nominated to."""
        return tuple(self._by_node)

    def changed_since(self, version: int) -> Sequence[str] | None:
        """Nodes whose nominations changed after a version; None if that is forgotten."""
        count = self.version - version
        return self._changed[len(self._changed) - count :] if count <= len(self._changed) else None

    def _note(self, node_name: str) -> None:
        self.version += 1
        self._changed.append(node_name)
        if len(self._changed) > 2 * _MAX_REMEMBERED:
            del self._changed[:_MAX_REMEMBERED]


def _bare(info: PodInfo) -> PodInfo:
    full = info.pod.metadata
    pod = Pod(metadata=ObjectMeta(name=full.name, namespace=full.namespace, uid=full.uid))
    return PodInfo(pod, PodShape(pod, info.shape.rules))


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
