"""Which report about a node is believed, and what is taken off it.

A report is late: pods that were just placed are not in it. Three ways to live with that
(`pkg/noderesourcetopology/cache` of the collection):

- believe every report (`Reports`);
- believe none about a node while a pod is on its way there (`DiscardReserved`);
- keep a report and take what was placed since off every zone of the node, until a report comes
  whose fingerprint is that of the node's pods (`OverReserve`). A node is looked at for this when a
  pod was refused there, or when somebody else has placed pods on it.

Placements of containers, worked out once for a report and the pods that it speaks of.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.addons.collection.node_resource_topology.numa_placement import (
    UNKNOWN,
    Placement,
    pinned_containers,
    placement_of,
    pod_fingerprint,
)
from podium.addons.collection.node_resource_topology.topologies import (
    NodeResourceTopology,
    attribute_of,
    effective_request,
    takes_exclusively,
    topology_manager_of,
    zones_of,
)
from podium.plugin import Handle, PodInfo

FINGERPRINT: Final = "nodeTopologyPodsFingerprint"
FINGERPRINT_METHOD: Final = "nodeTopologyPodsFingerprintMethod"
FINGERPRINT_ANNOTATION: Final = "topology.node.k8s.io/fingerprint"
WITH_EXCLUSIVE: Final = "with-exclusive-resources"
ONLY_EXCLUSIVE: Final = "OnlyExclusiveResources"


class TopologyReport(NamedTuple):
    """What is believed of a node: nothing if `topology` is None, and not even that if it is
    `stale`. `reserved` are requests to be taken off every zone."""

    topology: NodeResourceTopology | None
    reserved: tuple[Mapping[str, int], ...] = ()
    stale: bool = False


class Reports:
    """Every report is believed."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._version = -1
        self._touched: set[str] = set()
        self._placements = KnownPlacements()

    def placement_on(self, node: str) -> Placement:
        """In which zone the containers of a node run; empty if that is not known."""
        report = self.report_of(node).topology
        return UNKNOWN if report is None else self._placements.of(report, self._running_on(node))

    def report_of(self, node: str) -> TopologyReport:
        return TopologyReport(self._handle.get(NodeResourceTopology, node))

    def take_changed(self) -> Iterable[str] | None:
        """Names of nodes whose report may be another than when this was asked last; None for all
        of them."""
        catalog = self._handle.cluster.catalog
        changed = catalog.changed_since(NodeResourceTopology, self._version)
        if self._version < 0:
            changed = None
        self._version = catalog.version(NodeResourceTopology)
        touched, self._touched = self._touched, set()
        return None if changed is None else {*self._take_over(changed), *touched}

    def _take_over(self, changed: Iterable[str]) -> Iterable[str]:
        """Reports have arrived; those nodes of them that are to be read again."""
        return changed

    def _running_on(self, node: str) -> Sequence[PodInfo]:
        cluster = self._handle.cluster
        row = cluster.nodes.row(node)
        phases = self._running_phases
        return (
            [p for p in cluster.usage.pods(row) if p.pod.status.phase in phases] if row >= 0 else []
        )

    _running_phases: tuple[str, ...] = ("Running", "Unknown")

    def reserve(self, node: str, pod: PodInfo) -> None:
        """A pod is on its way to a node."""

    def unreserve(self, node: str, pod: PodInfo) -> None:
        """It does not get there."""

    def confirm(self, node: str, pod: PodInfo) -> None:
        """It is bound."""

    def suspect(self, nodes: Iterable[str]) -> None:
        """A pod was refused on nodes, perhaps because too much is taken off their reports."""

    def resync(self) -> float | None:
        """Look for reports that can be believed again; when to do so next, if it has to be."""
        return None


class DiscardReserved(Reports):
    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self._on_the_way: dict[str, set[str]] = {}

    def report_of(self, node: str) -> TopologyReport:
        if self._on_the_way.get(node):
            return TopologyReport(None, stale=True)
        return super().report_of(node)

    def reserve(self, node: str, pod: PodInfo) -> None:
        self._on_the_way.setdefault(node, set()).add(pod.uid)
        self._touched.add(node)

    def unreserve(self, node: str, pod: PodInfo) -> None:
        self._on_the_way.get(node, set()).discard(pod.uid)
        self._touched.add(node)

    def confirm(self, node: str, pod: PodInfo) -> None:
        self.unreserve(node, pod)


class OverReserve(Reports):
    """`method` is that of the fingerprints, `foreign` which pods of others are minded, `period_s`
    how often nodes are looked at; `follows_configuration` says that a report that tells of another
    configuration of the kubelet is believed at once."""

    def __init__(
        self,
        handle: Handle,
        period_s: int,
        *,
        method: str = "Autodetect",
        foreign: str = "All",
        shared: bool = False,
        follows_configuration: bool = True,
    ) -> None:
        super().__init__(handle)
        self._period_s = period_s
        self._method = method
        self._foreign = foreign
        if shared:
            self._running_phases = ("Running",)
        self._follows_configuration = follows_configuration
        self._kept: dict[str, NodeResourceTopology] = {}
        self._reserved: dict[str, dict[str, Mapping[str, int]]] = {}
        self._suspected: set[str] = set()
        self._with_foreign: set[str] = set()
        self._foreign_pods: dict[str, frozenset[str]] = {}
        self._spoken_of: dict[str, Sequence[PodInfo]] = {}
        """The pods that a kept report speaks of; those of the reports at the start are unknown."""
        self._usage_generation = -1
        self._last_resync = float("-inf")

    def placement_on(self, node: str) -> Placement:
        kept, pods = self._kept.get(node), self._spoken_of.get(node)
        return UNKNOWN if kept is None or not pods else self._placements.of(kept, pods)

    def report_of(self, node: str) -> TopologyReport:
        if node in self._with_foreign:
            return TopologyReport(None, stale=True)
        kept = self._kept.get(node)
        return TopologyReport(kept, tuple(self._reserved.get(node, {}).values()) if kept else ())

    def take_changed(self) -> Iterable[str] | None:
        if self._version < 0:
            for topology in self._handle.list(NodeResourceTopology):
                self._kept[topology.metadata.name] = topology
        changed = super().take_changed()
        self._find_foreign()
        return changed if changed is None else {*changed, *self._touched}

    def _take_over(self, changed: Iterable[str]) -> Iterable[str]:
        for node in changed:
            latest, kept = self._handle.get(NodeResourceTopology, node), self._kept.get(node)
            if latest is None:
                self._kept.pop(node, None)
                self._spoken_of.pop(node, None)
                self._forget(node)
            elif kept is None or (self._follows_configuration and _is_set_otherwise(kept, latest)):
                self._keep(node, latest)
                if kept is not None:
                    self._forget(node)
        return changed

    def reserve(self, node: str, pod: PodInfo) -> None:
        if node in self._kept:
            self._reserved.setdefault(node, {})[pod.uid] = effective_request(pod)
            self._touched.add(node)

    def unreserve(self, node: str, pod: PodInfo) -> None:
        self._reserved.get(node, {}).pop(pod.uid, None)
        self._touched.add(node)

    def suspect(self, nodes: Iterable[str]) -> None:
        self._suspected.update(node for node in nodes if node in self._kept)

    def resync(self) -> float | None:
        now = self._handle.clock()
        if now - self._last_resync >= self._period_s:
            self._last_resync = now
            for node in self._suspected | self._with_foreign:
                latest = self._handle.get(NodeResourceTopology, node)
                if latest is not None and self._speaks_of_its_pods(node, latest):
                    self._keep(node, latest)
                    self._forget(node)
        waits = self._suspected or self._with_foreign
        return self._last_resync + self._period_s if waits else None

    def _keep(self, node: str, report: NodeResourceTopology) -> None:
        self._kept[node] = report
        self._spoken_of[node] = self._running_on(node)

    def _forget(self, node: str) -> None:
        self._reserved.pop(node, None)
        self._suspected.discard(node)
        self._with_foreign.discard(node)
        self._touched.add(node)

    def _speaks_of_its_pods(self, node: str, report: NodeResourceTopology) -> bool:
        written = attribute_of(report.attributes, FINGERPRINT)
        exclusive = written is not None and (
            self._method == ONLY_EXCLUSIVE
            or (
                self._method == "Autodetect"
                and attribute_of(report.attributes, FINGERPRINT_METHOD) == WITH_EXCLUSIVE
            )
        )
        if written is None:
            written = (report.metadata.annotations or {}).get(FINGERPRINT_ANNOTATION)
        if not written:
            return False
        names = {name for zone in zones_of(report) for name in zone.available}
        pods = [
            (pod.pod.metadata.namespace, pod.pod.metadata.name)
            for pod in self._running_on(node)
            if not exclusive or takes_exclusively(pod, names)
        ]
        return pod_fingerprint(pods) == written

    def _find_foreign(self) -> None:
        """Note nodes where pods of other schedulers have come or gone."""
        if self._foreign == "None":
            return
        cluster = self._handle.cluster
        changed = cluster.usage.log.since(self._usage_generation)
        self._usage_generation = cluster.usage.log.generation
        for row in set(range(cluster.nodes.size) if changed is None else changed):
            node, found = cluster.nodes.names[row], self._foreign_on(row)
            if node in self._kept and found != self._foreign_pods.get(node, frozenset()):
                self._foreign_pods[node] = found
                self._with_foreign.add(node)
                self._touched.add(node)

    def _foreign_on(self, row: int) -> frozenset[str]:
        cluster, own = self._handle.cluster, self._handle.profile.name
        kept = self._kept.get(cluster.nodes.names[row])
        names = {name for zone in zones_of(kept) for name in zone.available} if kept else set()
        return frozenset(
            pod.uid
            for pod in cluster.usage.pods(row)
            if pod.pod.spec.scheduler_name != own
            and (self._foreign == "All" or takes_exclusively(pod, names))
        )


def _is_set_otherwise(one: NodeResourceTopology, other: NodeResourceTopology) -> bool:
    return topology_manager_of(one) != topology_manager_of(other)


class KnownPlacements:
    def __init__(self) -> None:
        self._known: dict[str, tuple[NodeResourceTopology, tuple[str, ...], Placement]] = {}

    def of(self, report: NodeResourceTopology, pods: Sequence[PodInfo]) -> Placement:
        node, uids = report.metadata.name, tuple(pod.uid for pod in pods)
        known = self._known.get(node)
        if known is not None and known[0] is report and known[1] == uids:
            return known[2]
        names = {name for zone in zones_of(report) for name in zone.available}
        found = placement_of(report, pinned_containers(pods, names))
        self._known[node] = report, uids, found
        return found
