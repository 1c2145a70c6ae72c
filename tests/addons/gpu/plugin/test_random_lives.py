"""Pods come and go, bindings fail, nodes change: no card is ever given away twice.

What is in use is read from the objects of nodes and pods alone, after every step.
"""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from support.addons.gpu.gpu_cluster import (
    cards_of,
    charged,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
    uses_by_card,
)

from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.kubernetes.kinds.node import Node
from podium.scheduler.framework.status import error

NODES = 4
PROFILES = ("default-scheduler", "second")


class Life:
    """One cluster and what happens to it, from a seed."""

    def __init__(self, dialect: str, seed: int) -> None:
        self.dialect = dialect
        self.random = Random(seed)
        self.sizes = {f"n{at}": 1 + at for at in range(NODES)}
        self.cluster = gpu_cluster(*map(self.node, self.sizes), dialect=dialect, profiles=PROFILES)
        self.made = 0
        self.placed: set[str] = set()

    def node(self, name: str) -> Node:
        cards = cards_of(self.sizes[name], slots=4)
        if self.random.random() < 0.3:
            cards[-1] = replace(cards[-1], healthy=False)
        return gpu_node(name, cards, self.dialect, now=self.now)

    @property
    def now(self) -> float:
        return self.cluster.clock() if hasattr(self, "cluster") else 1_800_000_000.0

    def step(self) -> None:
        steps = [self.arrive] * 4 + [self.attempt] * 5 + [self.bind] * 4
        steps += [self.leave] * 4 + [self.change_node, self.remove_node, self.wait]
        self.random.choice(steps)()
        self.check()

    def arrive(self) -> None:
        pick = self.random
        memory, cores = 1024 * pick.randint(1, 16), pick.randint(1, 99)
        fields: dict[str, Any] = {"priority": pick.choice((0, 0, 0, 5))}
        fields["schedulerName"] = pick.choice(PROFILES)
        pod = gpu_pod(f"p{self.made}", share(self.dialect, memory, cores), **fields)
        self.made += 1
        self.cluster.put(pod)

    def attempt(self) -> None:
        self.cluster.attempt()
        for preemption in self.cluster.preemptions:
            for evict in preemption.evict:
                if evict.victim.key in self.cluster.engine.state.pods:
                    self.cluster.delete(evict.victim.pod.metadata.name)
                self.cluster.engine.preemptions.confirm_eviction(
                    preemption.preemptor, evict.victim, preemption.node_name
                )
            self.cluster.engine.preemptions.finish_preemption(preemption.preemptor, None)
        self.cluster.preemptions.clear()
        self.cluster.collect()

    def bind(self) -> None:
        if not self.cluster.bindings:
            return
        name = self.random.choice(sorted(self.cluster.bindings))
        binding = self.cluster.bindings[name]
        if self.random.random() < 0.2:
            self.cluster.finish(name, error("before anything was written"))
            return
        problem = self.cluster.run_binding(name)
        self.check()
        if problem is None and self.random.random() < 0.2:
            problem = error("the API server is away")
        gone = binding.cycle.pod.key not in self.cluster.engine.state.pods
        self.cluster.finish(name, problem)
        if problem is None and not gone:
            self.cluster.confirm(name, binding.node_name)
            self.placed.add(name)

    def leave(self) -> None:
        pods = sorted(self.cluster.engine.state.pods.values(), key=lambda pod: pod.name)
        if pods:
            pod = self.random.choice(pods)
            if pod.name in self.placed and self.random.random() < 0.5:
                self.cluster.change(pod.name, phase="Succeeded")
            else:
                self.cluster.delete(pod.name)

    def change_node(self) -> None:
        self.cluster.put(self.node(self.random.choice(sorted(self.sizes))))

    def remove_node(self) -> None:
        name = self.random.choice(sorted(self.sizes))
        self.cluster.engine.intake.node_deleted(name)
        if self.random.random() < 0.5:
            self.cluster.put(self.node(name))

    def wait(self) -> None:
        self.cluster.wait(self.random.choice((1, 5, 40)))
        for name in self.sizes:  # agents write that they live
            if self.cluster.engine.cluster.nodes.is_present(name):
                self.cluster.put(self.node(name))

    def check(self) -> None:
        dialect = find_dialect(self.dialect)
        for (node, index), use in uses_by_card(self.cluster, self.dialect).items():
            assert index < self.sizes[node]
            assert use.cores <= 100, (node, index, use)
            assert use.memory <= (16384 << 20) // dialect.memory_unit, (node, index, use)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_no_card_is_given_away_twice_and_nothing_is_left_over(dialect: str) -> None:
    live_and_die(Life(dialect, 7), 150)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["hami", "gpu-scheduler"])
def test_a_thousand_pods(dialect: str) -> None:
    live_and_die(Life(dialect, 99), 1000)


def live_and_die(life: Life, pods: int) -> None:
    while life.made < pods:
        life.step()
    cluster = life.cluster
    assert len(life.placed) > pods // 20
    held = uses_by_card(cluster, life.dialect)
    flying = {binding.node_name for binding in cluster.bindings.values()}
    for (node, index), (cores, memory, _) in charged(cluster).items():
        use = held.get((node, index))
        if node not in flying:
            assert use is not None
            assert (use.cores, use.memory) == (cores, memory)
    for name in list(cluster.bindings):
        cluster.finish(name, error("the end"))
    for pod in list(cluster.engine.state.pods.values()):
        assert pod.spec.node_name or not find_dialect(life.dialect).decided_node(pod)
        cluster.delete(pod.name)
    assert charged(cluster) == {}
    plugin: Any = cluster.plugin("GPUShare")
    assert plugin._reservations == {}
    cluster.wait(31)
    assert charged(cluster) == {}
    assert plugin._reservations.withdrawn == {}
