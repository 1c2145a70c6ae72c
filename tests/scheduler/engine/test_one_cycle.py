"""What is tried offline is what runs live: the same functions, in the same order."""

from functools import partial

from support.live.live_clusters import Scenario as Scene
from support.live.live_clusters import in_live_cluster, is_bound
from support.live.live_clusters import pod as live_pod
from support.scheduler.engine.call_profile import Call, figures, recording, way_of_a_pod
from support.simulated.simulated_clusters import Cluster

from podium.client.resources import PODS
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly
from podium.offline.simulate import Scenario, Simulation
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.plugins import in_tree_registry

MAX_FILES = 80
"""Files that a reader of one attempt has to open."""


class Tried(Observer):
    """Keeps the pods that were tried, as they were then."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []

    def search_started(self, pod: PodInfo) -> None:
        self.pods.append(pod.pod)


def nodes_of(engine: Engine) -> tuple[Node, ...]:
    table = engine.cluster.nodes
    return tuple(table.node(row) for row in range(table.size) if table.present[row])


def in_the_simulator(nodes: tuple[Node, ...], pods: list[Pod]) -> list[Call]:
    """The way of the last of some pods."""
    scenario = Scenario(nodes=nodes, running=(), pending=tuple(pods))
    simulation = Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        gates=FeatureGates(),
    )
    with recording() as calls:
        simulation.run()
    before = [at for at, call in enumerate(calls) if call.function == "Engine.schedule_in_steps"]
    return way_of_a_pod(calls[before[len(pods) - 1] :])


def in_both(tried: Tried, ways: list[tuple[list[Call], list[Call]]]) -> Scene:
    async def scene(cluster: Cluster, assembly: Assembly) -> None:
        nodes = nodes_of(assembly.engine)
        for name in ("first", "second", "third"):
            with recording() as calls:
                await cluster.create(PODS, live_pod(name))
                await cluster.until(partial(is_bound, cluster, name))
            ways.append((way_of_a_pod(calls), in_the_simulator(nodes, tried.pods)))

    return scene


def test_a_pod_passes_through_the_same_functions_in_the_simulator_and_live() -> None:
    tried = Tried()
    ways: list[tuple[list[Call], list[Call]]] = []
    in_live_cluster(in_both(tried, ways), nodes=2, observers=lambda _: (tried,))
    _, second, third = ways  # the first also meets what heartbeats left to be looked at again
    for live, offline in (second, third):
        assert offline == live
        assert figures(live).files <= MAX_FILES
