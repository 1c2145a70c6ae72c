"""Every node, or every zone, failing by itself: which of these failures a cluster survives.

One simulation is run and each failure is tried on it and taken back, so a
thousand failures cost the pods that they move and not a thousand clusters. Contract: the answer for
each is that of a cluster where nothing else has happened.

A simulation's cluster as it is, to come back to after something was tried on it. Going back is told
to the engine as a watch would tell it: pods go and come, nodes and objects are put back. So
everything that follows the cluster follows this too, and going back costs as much as what has
changed, not as much as the cluster. Contract: pods that wait are not part of it; they are taken out
of the simulation before (`leave_waiting_out`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Change, Fail, ZoneOutage
from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.node_selection import zones_of
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.events import ClusterEvent, EventObject


@dataclass(frozen=True, slots=True)
class Failure:
    """What is lost with one node or one zone."""

    what: str
    nodes: int
    pods: int
    """Pods that were on it, of daemon sets too."""
    consequences: Consequences

    @property
    def is_survived(self) -> bool:
        return self.consequences.is_survived

    @property
    def lost(self) -> int:
        """Pods that get no node again, or are made by no controller again."""
        return len(self.consequences.stranded) + len(self.consequences.gone)


def fail_each_node(
    simulation: Simulation, scenario: Scenario, on_failure: Callable[[], None] = lambda: None
) -> list[Failure]:
    """Every node by itself, in order of names."""
    cluster = simulation.engine.cluster
    names = sorted(cluster.nodes.names[row] for row in cluster.node_order().tolist())
    changes = [(name, [name], Fail(name)) for name in names]
    return _try_each(simulation, scenario, changes, on_failure)


def fail_each_zone(
    simulation: Simulation, scenario: Scenario, on_failure: Callable[[], None] = lambda: None
) -> list[Failure]:
    """Every zone by itself, in order of names."""
    zones = zones_of(simulation.engine.cluster)
    changes = [(zone, names, ZoneOutage(zone)) for zone, names in zones.items()]
    return _try_each(simulation, scenario, changes, on_failure)


def _try_each(
    simulation: Simulation,
    scenario: Scenario,
    changes: Iterable[tuple[str, Sequence[str], Change]],
    on_failure: Callable[[], None],
) -> list[Failure]:
    leave_waiting_out(simulation)
    checkpoint = Checkpoint(simulation)
    cluster = simulation.engine.cluster
    found = []
    for what, names, change in changes:
        pods = sum(len(cluster.usage.pods(cluster.nodes.row(name))) for name in names)
        with checkpoint.roll_back_on_exit():
            changed = ChangedCluster(simulation, scenario, waiting=())
            changed.apply(change)
            found.append(Failure(what, len(names), pods, changed.consequences(explains=False)))
        on_failure()
    return found


_WRITTEN: tuple[type[KubeStruct], ...] = (
    PersistentVolume,
    PersistentVolumeClaim,
    ResourceClaim,
    PodDisruptionBudget,
)
"""Kinds of which objects change while pods move."""


def leave_waiting_out(simulation: Simulation) -> int:
    """Take pods without a node out of a simulation; how many there were."""
    waiting = [pod for pod in simulation.engine.state.pods.values() if not pod.spec.node_name]
    for pod in waiting:
        simulation.remove_pod(pod)
    return len(waiting)


class _Journal(Observer):
    """Which nodes and pods something has happened to, in order."""

    def __init__(self) -> None:
        self.pods: dict[str, None] = {}
        self.nodes: dict[str, None] = {}

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:  # noqa: ARG002
        if isinstance(obj, Pod):
            self.pods[object_key(obj.metadata)] = None
        elif isinstance(obj, Node):
            self.nodes.pop(obj.metadata.name, None)
            self.nodes[obj.metadata.name] = None


class Checkpoint:
    """What there was when it was made."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._engine = simulation.engine
        self._pods: dict[str, Pod] = dict(self._engine.state.pods)
        cluster = self._engine.cluster
        self._nodes: dict[str, Node] = {
            cluster.nodes.names[row]: cluster.nodes.node(row)
            for row in cluster.node_order().tolist()
        }
        self._objects = {kind: self._read(kind) for kind in _WRITTEN}

    @contextmanager
    def roll_back_on_exit(self) -> Iterator[None]:
        """Whatever is done to the simulation meanwhile is taken back afterwards."""
        journal = _Journal()
        catalog = self._engine.cluster.catalog
        versions = {kind: catalog.version(kind) for kind in _WRITTEN}
        self._simulation.restart_choices()
        with self._engine.cluster.keeping_node_order():
            self._engine.observers.add(journal)
            try:
                yield
            finally:
                self._engine.observers.remove(journal)
                self._go_back(journal, versions)

    def _go_back(self, journal: _Journal, versions: Mapping[type[KubeStruct], int]) -> None:
        state, intake, pods = self._engine.state, self._engine.intake, self._pods
        changed = [key for key in journal.pods if state.pods.get(key) is not pods.get(key)]
        for key in changed:
            if key in state.pods:
                self._simulation.remove_pod(state.pods[key])
        self._put_nodes_back(journal)
        for kind, before in self._objects.items():
            if self._engine.cluster.catalog.version(kind) == versions[kind]:
                continue
            after = self._read(kind)
            for name, obj in after.items():
                if name not in before:
                    intake.object_deleted(obj)
            for name, obj in before.items():
                if after.get(name) is not obj:
                    intake.object_put(obj)
        for key in changed:
            if key in pods:
                intake.pod_put(pods[key])
        self._simulation.take_evictions()

    def _put_nodes_back(self, journal: _Journal) -> None:
        nodes, intake = self._engine.cluster.nodes, self._engine.intake
        # The last that went comes first: rows are given out again in that order.
        for name in reversed(journal.nodes):
            before = self._nodes.get(name)
            if before is None:
                intake.node_deleted(name)
            elif not nodes.is_present(name) or nodes.node(nodes.row(name)) is not before:
                intake.node_put(before)

    def _read(self, kind: type[KubeStruct]) -> dict[tuple[str, str], KubeStruct]:
        objects = self._engine.cluster.catalog.all(kind)
        return {obj.metadata.key: obj for obj in objects}  # type: ignore[attr-defined]
