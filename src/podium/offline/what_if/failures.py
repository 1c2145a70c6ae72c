"""Every node, or every zone, failing by itself: which of these failures a cluster survives.

One simulation is run and each failure is tried on it and taken back (`checkpoint.py`), so a
thousand failures cost the pods that they move and not a thousand clusters. Contract: the answer for
each is that of a cluster where nothing else has happened.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Change, Fail, ZoneOutage
from podium.offline.what_if.checkpoint import Checkpoint, leave_waiting_out
from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.node_selection import zones_of


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
        with checkpoint.trying():
            changed = ChangedCluster(simulation, scenario, waiting=())
            changed.apply(change)
            found.append(Failure(what, len(names), pods, changed.consequences(explains=False)))
        on_failure()
    return found
