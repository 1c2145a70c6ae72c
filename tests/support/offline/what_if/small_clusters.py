"""Random clusters small enough to try every placement, and the trying itself."""

import random
from collections import Counter
from typing import Any

from support.offline.what_if.clusters import HOST, ZONE, pod

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.what_if.forced_placement import ForcedPlacement
from podium.offline.what_if.placement_reading import state_problem
from podium.scheduler.engine.scheduler import Engine
from podium.testing import make_node

_KEYS = (HOST, ZONE)


def selector(app: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}}


def random_node(chance: random.Random, number: int) -> Node:
    labels = {HOST: f"n{number}"}
    if chance.random() < 0.85:
        labels[ZONE] = chance.choice("ab")
    taints = [("dedicated", "x", "NoSchedule")]
    return make_node(
        f"n{number}",
        labels=labels,
        allocatable={"cpu": str(chance.randint(1, 4)), "memory": "8Gi", "pods": 10},
        taints=taints if chance.random() < 0.2 else [],
    )


def random_spec(chance: random.Random, apps: list[str]) -> dict[str, Any]:
    """What a kind of pods asks of nodes and of each other."""
    spec: dict[str, Any] = {}
    affinity: dict[str, Any] = {}
    if chance.random() < 0.2:
        spec["nodeSelector"] = {ZONE: chance.choice("ab")}
    if chance.random() < 0.4:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if chance.random() < 0.4:
        affinity["podAntiAffinity"] = _required(chance, apps)
    if chance.random() < 0.35:
        affinity["podAffinity"] = _required(chance, apps)
    if affinity:
        spec["affinity"] = affinity
    if chance.random() < 0.5:
        keys = chance.sample(_KEYS, chance.randint(1, 2))
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": chance.randint(1, 2),
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                **({"minDomains": 3} if chance.random() < 0.2 else {}),
                **selector(chance.choice(apps)),
            }
            for key in keys
        ]
    return spec


def _required(chance: random.Random, apps: list[str]) -> dict[str, Any]:
    terms = [
        {"topologyKey": chance.choice(_KEYS), **selector(chance.choice(apps))}
        for _ in range(chance.choice((1, 1, 2)))
    ]
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def small_cluster(seed: int) -> tuple[list[Node], list[Pod], list[Pod]]:
    """Nodes, pods that run and pods that wait."""
    chance = random.Random(seed)
    nodes = [random_node(chance, number) for number in range(chance.randint(2, 4))]
    apps = ["a", "b", "c"][: chance.randint(1, 3)]
    waiting: list[Pod] = []
    for app in apps:
        spec, cpu = random_spec(chance, apps), str(chance.randint(0, 3))
        port = 80 if chance.random() < 0.2 else 0
        for number in range(chance.randint(1, 6 // len(apps))):
            name = f"{app}-{number}"
            waiting.append(pod(name, cpu, port=port, labels={"app": app}, **spec))
    running = [
        pod(
            f"old-{number}",
            node=chance.choice(nodes).metadata.name,
            labels={"app": chance.choice(apps)},
            **(random_spec(chance, apps) if chance.random() < 0.3 else {}),
        )
        for number in range(chance.choice((0, 0, 1, 2)))
    ]
    return nodes, running, waiting


def most_placed(engine: Engine, waiting: list[Pod]) -> int:
    """The most pods that the scheduler's filters let in, whichever way pods come: every order of
    every placement is tried."""
    stated = state_problem(engine, waiting)
    forced = ForcedPlacement(engine, stated.problem)
    kinds, names = stated.pods, stated.problem.nodes
    seen: set[frozenset[tuple[tuple[int, int], int]]] = set()
    here: Counter[tuple[int, int]] = Counter()
    best = 0

    def go_on() -> None:
        nonlocal best
        state = frozenset((place, count) for place, count in here.items() if count)
        if state in seen:
            return
        seen.add(state)
        best = max(best, here.total())
        for kind, infos in enumerate(kinds):
            taken = sum(here[kind, at] for at in range(len(names)))
            if taken == len(infos):
                continue
            for at, name in enumerate(names):
                if not forced.place(infos[taken], name):
                    here[kind, at] += 1
                    go_on()
                    here[kind, at] -= 1
                    forced.take_back()

    go_on()
    return best
