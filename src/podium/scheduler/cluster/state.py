"""The cluster: the table of nodes, the pods on it, and what else plugins look up.

This is the scheduler's cache. A pod is *added* (the API server says it is on a node) or *assumed*
(the scheduler decided so and waits to hear it). Pods may arrive before their node and stay after
it; such rows hold pods but show no node. A snapshot is no copy: a cycle runs to its end before the
next event is applied, so plugins read the columns themselves.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import RequestRules
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.nominated_pods import NominatedPodsByPriority
from podium.scheduler.cluster.nominator import Nominator
from podium.scheduler.cluster.order import NodeOrder
from podium.scheduler.cluster.pod_classes import PodClasses
from podium.scheduler.cluster.pod_group_state import PodGroupStates
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.cluster.usage import Usage


class CacheError(Exception):
    """The caller's idea of a pod's place disagrees with the cache."""


class Placement:
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
        self.placements: dict[str, Placement] = {}
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

    def _confirms(self, held: Placement, info: PodInfo) -> bool:
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
        self.placements[info.uid] = Placement(info, row, assumed)
        if self.pod_groups.enabled:
            if assumed:
                self.pod_groups.assume(info, node_name)
            else:
                self.pod_groups.put(info)

    def _take_out(self, held: Placement, *, forgotten: bool = False) -> None:
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
