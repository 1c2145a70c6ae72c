"""The cluster: the table of nodes, the order in which a snapshot lists them, the pods on them.

This is the scheduler's cache. A pod is *added* (the API server says it is on a node) or *assumed*
(the scheduler decided so and waits to hear it). Pods may arrive before their node and stay after
it; such rows hold pods but show no node. A snapshot is no copy: a cycle runs to its end before the
next event is applied, so plugins read the columns themselves.

The order in which a snapshot lists its nodes. Upstream keeps nodes in a tree of zones and lists
them round robin over the zones, so that a search that stops early has seen several zones. The list
is rebuilt only when a name appears that the last list did not have, or when the list is longer than
the tree: a zone change alone does not reorder it, and a node that went and came back between two
snapshots keeps its place.

Sources: `pkg/scheduler/backend/cache/node_tree.go` and `UpdateSnapshot` in
`pkg/scheduler/backend/cache/cache.go`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import RequestRules
from podium.scheduler.cluster.catalog import Catalog, PodGroupStates
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.nominated_pods import NominatedPodsByPriority, Nominator
from podium.scheduler.cluster.pod_classes import PodClasses
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.cluster.usage import Usage


class CacheError(Exception):
    """The caller's idea of a pod's place disagrees with the cache."""


class PodPlacement:
    """Where a pod is: its row, and whether the API server has confirmed it."""

    __slots__ = ("assumed", "info", "row")

    def __init__(self, info: PodInfo, row: int, assumed: bool) -> None:
        self.info = info
        self.row = row
        self.assumed = assumed


class Cluster:
    def __init__(self, rules: RequestRules) -> None:
        """`rules` say what pods' requests are read from."""
        self.nodes = NodeTable()
        self.usage = Usage(self.nodes)
        self.classes = PodClasses(self.nodes)
        self.catalog = Catalog()
        self.nominator = Nominator()
        self.nominated_pods = NominatedPodsByPriority(self.nodes, self.usage, self.nominator)
        self.infos = PodInfos(rules)
        self.pod_groups = PodGroupStates()
        self.placements: dict[str, PodPlacement] = {}
        self._order = NodeOrder()
        self._order_rows: npt.NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._order_version = (-1, -1)

    # nodes

    def put_node(self, node: Node) -> None:
        """Add a node or replace its object."""
        row = self.nodes.claim_row(node.metadata.name)
        self.nodes.put(row, node)
        self.usage.grow()
        self._order.put(node)

    def remove_node(self, name: str) -> None:
        row = self.nodes.row(name)
        if row < 0:
            return
        self._order.remove(name)
        self.nodes.clear(row)
        self._release_if_empty(row)

    def node_order(self) -> npt.NDArray[np.intp]:
        """Rows of the nodes in snapshot order. Not to be written to."""
        names = self._order.names()
        version = (self._order.version, self.nodes.membership)
        if version != self._order_version:
            self._order_version = version
            rows = (self.nodes.row(name) for name in names)
            self._order_rows = np.fromiter(rows, dtype=np.intp, count=len(names))
        return self._order_rows

    @contextmanager
    def keeping_node_order(self) -> Iterator[None]:
        """Nodes that are taken out and put back meanwhile have their places again afterwards."""
        kept = self._order.copy()
        try:
            yield
        finally:
            kept.version = self._order.version + 1
            self._order = kept

    # pods

    def add_pod(self, pod: Pod) -> PodInfo:
        """A pod that the API server says is on a node; confirms an assumed one."""
        return self.add(self.infos.of(pod))

    def add(self, info: PodInfo) -> PodInfo:
        held = self.placements.get(info.uid)
        if held is not None:
            if not held.assumed:
                raise CacheError(f"pod {info.key} was added twice")
            if self._confirms(held, info):
                self.usage.replace(held.row, held.info, info)
                held.info, held.assumed = info, False
                self.pod_groups.put(info)
                return info
            self._take_out(held)
        self._put_in(info, info.pod.spec.node_name, assumed=False)
        return info

    def update_pod(self, pod: Pod) -> PodInfo:
        return self.update(self.infos.of(pod))

    def update(self, info: PodInfo) -> PodInfo:
        node_name = info.pod.spec.node_name
        held = self.placements.get(info.uid)
        if held is None or held.assumed:
            raise CacheError(f"pod {info.key} is not on a node yet and cannot be updated there")
        if self.nodes.names[held.row] != node_name:
            raise CacheError(f"pod {info.key} cannot move to node {node_name}")
        self._take_out(held)
        self._put_in(info, node_name, assumed=False)
        return info

    def remove_pod(self, uid: str) -> None:
        held = self.placements.get(uid)
        if held is not None:
            self._take_out(held)

    def assume(self, info: PodInfo, node_name: str) -> None:
        if info.uid in self.placements:
            raise CacheError(f"pod {info.uid}({info.key}) is in the cache, so can't be assumed")
        self._put_in(info, node_name, assumed=True)

    def forget(self, info: PodInfo) -> None:
        """Undo `assume`; a pod that is not there is fine, a confirmed one is not."""
        held = self.placements.get(info.uid)
        if held is None:
            return
        if not held.assumed:
            raise CacheError(f"pod {info.uid}({info.key}) wasn't assumed so cannot be forgotten")
        self._take_out(held, forgotten=True)

    def is_assumed(self, uid: str) -> bool:
        held = self.placements.get(uid)
        return held is not None and held.assumed

    def _confirms(self, held: PodPlacement, info: PodInfo) -> bool:
        """Whether an added pod is just what was assumed, so that no column changes."""
        return (
            held.info.shape is info.shape
            and held.info.terminating == info.terminating
            and self.nodes.names[held.row] == info.pod.spec.node_name
        )

    def _put_in(self, info: PodInfo, node_name: str, *, assumed: bool) -> None:
        row = self.nodes.claim_row(node_name)
        self.usage.add(row, info)
        self.classes.add(row, info)
        self.placements[info.uid] = PodPlacement(info, row, assumed)
        if self.pod_groups.enabled:
            if assumed:
                self.pod_groups.assume(info, node_name)
            else:
                self.pod_groups.put(info)

    def _take_out(self, held: PodPlacement, *, forgotten: bool = False) -> None:
        """`forgotten` says that the pod is still there and only gives its node back."""
        del self.placements[held.info.uid]
        self.usage.remove(held.row, held.info)
        self.classes.remove(held.row, held.info)
        self._release_if_empty(held.row)
        if self.pod_groups.enabled:
            if forgotten:
                self.pod_groups.forget(held.info)
            else:
                self.pod_groups.remove(held.info)

    def _release_if_empty(self, row: int) -> None:
        if not self.nodes.present[row] and not self.usage.pods(row):
            self.nodes.release_row(row)


_ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def zone_key(node: Node) -> str:
    """The tree's name for a node's zone: empty, or region and zone joined."""
    labels = node.metadata.labels or {}
    zone = next((labels[key] for key in _ZONE_LABELS if key in labels), "")
    region = next((labels[key] for key in _REGION_LABELS if key in labels), "")
    return f"{region}:\0:{zone}" if region or zone else ""


class NodeOrder:
    """The tree of zones and the list that snapshots show."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._listed: list[str] = []
        self._listed_set: set[str] = set()
        self.version = 0
        self._stale = False

    def __len__(self) -> int:
        return len(self._zone_of)

    def copy(self) -> "NodeOrder":
        """The same tree and list; neither changes with the other."""
        twin = NodeOrder()
        twin._zones = {zone: dict(names) for zone, names in self._zones.items()}
        twin._zone_of = dict(self._zone_of)
        twin._listed, twin._listed_set = list(self._listed), set(self._listed_set)
        twin.version, twin._stale = self.version, self._stale
        return twin

    def put(self, node: Node) -> None:
        """Add a node, or move it if its zone changed."""
        name, zone = node.metadata.name, zone_key(node)
        old = self._zone_of.get(name)
        if old == zone:
            return
        if old is not None:
            self._take_out(name, old)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        self._stale = True

    def remove(self, name: str) -> None:
        zone = self._zone_of.pop(name, None)
        if zone is not None:
            self._take_out(name, zone)
            self._stale = True

    def names(self) -> list[str]:
        """Node names in snapshot order; call once per cycle."""
        if self._stale:
            self._stale = False
            appeared = any(name not in self._listed_set for name in self._zone_of)
            if appeared or len(self._listed) > len(self._zone_of):
                self._listed = self._round_robin()
                self._listed_set = set(self._listed)
            self.version += 1
        return self._listed

    def _take_out(self, name: str, zone: str) -> None:
        names = self._zones[zone]
        del names[name]
        if not names:
            del self._zones[zone]

    def _round_robin(self) -> list[str]:
        columns = [list(names) for names in self._zones.values()]
        depth = max(map(len, columns), default=0)
        return [column[i] for i in range(depth) for column in columns if i < len(column)]
