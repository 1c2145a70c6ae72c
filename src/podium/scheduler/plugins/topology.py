"""What several plugins ask about topology domains, and about the pods of one owner.

PodTopologySpread and InterPodAffinity both ask "how many such pods are in this node's zone": a
topology key divides the nodes into domains, pods per node are added up per domain, and every node
reads its domain's total. A `Topology` numbers the domains of one key without gaps, so that adding
up is one `bincount` and reading is one gather. Slot 0 is for nodes without the label; it is no
domain and always reads as 0.

Pods per topology domain, kept by deltas. Spread constraints and affinity terms of one kind are
asked about for every pod of a burst, and from one pod to the next a single row has changed. So the
sums of a counter over the domains of a topology are kept and moved by what the counter has seen
since. Sums that were handed out never change: an update makes new ones. Sums over some of the rows
only are made anew each time.

The selector of the service and controller that a pod belongs to. Default spread constraints name no
pods. A pod is spread among its like: the pods that the same Services select and the same controller
owns (`pkg/scheduler/framework/plugins/helper/spread.go`). What was found for a template is kept
until an object of one of these kinds changes.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.meta import LabelSelector, OwnerReference
from podium.kubernetes.kinds.workloads import (
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from podium.kubernetes.rules.labels import Selector, SelectorError, selector_of, selector_of_map
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.pod_classes import PodClasses, PodCounter
from podium.scheduler.cluster.pod_info import PodInfo, PodShape

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

    def mask_inhabited(self, eligible: Mask) -> Mask:
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
                known.totals = _move_sums(known, changes)
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


def _move_sums(sums: _Sums, changes: list[tuple[int, int]]) -> Ints:
    totals = sums.totals.copy()
    for row, delta in changes:
        slot = sums.slots[row]
        if slot:
            totals[slot] += delta
    return totals


_KINDS = (Service, ReplicationController, ReplicaSet, StatefulSet)
_MAX_KEPT = 4096

OwnerKey = tuple[str, str, str]


class OwnerSelectors:
    def __init__(self, catalog: Catalog, *, services_only: bool = False) -> None:
        """With `services_only` nobody asks who owns a pod."""
        self._catalog = catalog
        self._services_only = services_only
        self._versions: tuple[int, ...] = ()
        self._kept: dict[tuple[PodShape, OwnerKey | None], Selector] = {}
        self._services: dict[str, list[dict[str, str]]] = {}

    def of(self, pod: PodInfo) -> Selector:
        """What selects the pod's like; an empty selector if it has neither service nor owner."""
        self._forget_if_changed()
        references = pod.pod.metadata.owner_references
        owner = None if self._services_only else _controller(references)
        key = (pod.shape, owner)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            found = self._kept[key] = self._derive(pod.shape, owner)
        return found

    def _forget_if_changed(self) -> None:
        versions = tuple([self._catalog.version(kind) for kind in _KINDS])
        if versions == self._versions:
            return
        self._versions = versions
        self._kept.clear()
        self._services = {}
        for service in self._catalog.all(Service):
            if service.spec.selector is not None:
                of_namespace = self._services.setdefault(service.metadata.namespace, [])
                of_namespace.append(service.spec.selector)

    def _derive(self, shape: PodShape, owner: OwnerKey | None) -> Selector:
        wanted: dict[str, str] = {}
        for selector in self._services.get(shape.namespace, ()):
            if selector.items() <= shape.labels.items():
                wanted |= selector
        match owner:
            case ("v1", "ReplicationController", name):
                controller = self._catalog.get(ReplicationController, name, shape.namespace)
                if controller is not None:
                    wanted |= controller.spec.selector or {}
            case ("apps/v1", "ReplicaSet", name):
                replicas = self._catalog.get(ReplicaSet, name, shape.namespace)
                return _narrow_selector(wanted, replicas.spec.selector if replicas else None)
            case ("apps/v1", "StatefulSet", name):
                stateful = self._catalog.get(StatefulSet, name, shape.namespace)
                return _narrow_selector(wanted, stateful.spec.selector if stateful else None)
        return selector_of_map(wanted)


def _controller(owners: tuple[OwnerReference, ...] | None) -> OwnerKey | None:
    for owner in owners or ():
        if owner.controller:
            return owner.api_version, owner.kind, owner.name
    return None


def _narrow_selector(wanted: dict[str, str], selector: LabelSelector | None) -> Selector:
    """The services' labels and the controller's selector, unless that is absent or broken."""
    by_services = selector_of_map(wanted)
    if selector is None:
        return by_services
    try:
        return by_services.merge(selector_of(selector))
    except SelectorError:
        return by_services
