"""Which pods a new node would take, and how much of them: asked of an engine with that node only.

A pod that must be near others finds none there, and so is none for which a node is added.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import (
    PODS,
    accounted_requests,
    allocatable_vector,
    to_vector,
)
from podium.offline.scenarios.pools import Pool
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.report import SimulationReport
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.scheduler.cluster.pod_info import PodShape, request_rules
from podium.scheduler.config.types import Configuration
from podium.scheduler.framework.registry import Registry


class FitTrials:
    """Which pods a new node of a pool would take, tried on an engine of one's own."""

    def __init__(
        self,
        configuration: Configuration,
        registry: Registry,
        gates: FeatureGates,
        scenario: Scenario,
        daemons: NodeDaemons,
    ) -> None:
        self._configuration = configuration
        self._registry = registry
        self._gates = gates
        self._rules = request_rules(gates)
        self._objects = scenario.objects
        self._daemons = daemons
        self._fits: dict[tuple[str, PodShape], bool] = {}

    def find_free(self, pool: Pool) -> dict[str, int]:
        """What is free on a node that has the pods of daemon sets only."""
        node = pool.make(0)
        free = allocatable_vector(node.status.allocatable)
        daemons = self._daemons.pods_for(node)
        if daemons:
            report = self._try(node, daemons)
            for result in report.pods:
                if result.placed:
                    taken = to_vector(accounted_requests(result.pod, self._rules))
                    for name, amount in {**taken, PODS: 1}.items():
                        free[name] = free.get(name, 0) - amount
        return free

    def fits(self, pool: Pool, pod: Pod, shape: PodShape) -> bool:
        key = (pool.name, shape)
        if key not in self._fits:
            report = self._try(pool.make(0), (pod,))
            self._fits[key] = report.all_fit
        return self._fits[key]

    def _try(self, node: Node, pods: Sequence[Pod]) -> SimulationReport:
        scenario = Scenario((node,), (), tuple(pods), self._objects)
        simulation = Simulation(scenario, self._configuration, self._registry, gates=self._gates)
        return simulation.run()
