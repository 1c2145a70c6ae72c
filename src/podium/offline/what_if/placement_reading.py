"""A placement problem as the scheduler's own plugins state it.

Pods are gathered into kinds by their shape and priority; nodes stay apart. What a node can take is
what filters say of the cluster without these pods (`standing_filters.py`), the sums that filters
count, and the rows of pods that keep each other near or away
(`placement_terms.py`). Contract: every placement that the scheduler can reach by placing the pods
one after the other satisfies the problem. `ignored` names what the problem leaves out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import PODS
from podium.offline.optimum.placement_problem import PlacementProblem, PodKind
from podium.offline.what_if.placement_terms import AskedKind, attractions, exclusions, spreads
from podium.offline.what_if.standing_filters import StandingAnswer, ask_filters
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine


@dataclass(frozen=True, slots=True)
class StatedProblem:
    problem: PlacementProblem
    pods: tuple[tuple[PodInfo, ...], ...]
    """Of each kind, in the order in which they came."""
    ignored: tuple[str, ...]


def state_problem(
    engine: Engine, waiting: Iterable[Pod], held: Mapping[str, Iterable[Pod]] | None = None
) -> StatedProblem:
    """How `waiting` pods could be placed, and those of `held`, which have a node and are not in the
    engine's cluster, be placed anew."""
    infos = engine.cluster.infos
    groups: dict[tuple[object, int, bool], list[tuple[PodInfo, str]]] = {}
    for pod in waiting:
        info = infos.of(pod)
        groups.setdefault((info.shape, info.priority, False), []).append((info, ""))
    for node, pods in (held or {}).items():
        for pod in pods:
            # Its successor has no node yet.
            info = infos.of(replace(pod, spec=replace(pod.spec, node_name="")))
            groups.setdefault((info.shape, info.priority, True), []).append((info, node))
    rows = np.array(engine.cluster.node_order(), dtype=np.intp)
    kinds = [
        AskedKind(
            tuple(info for info, _ in group),
            tuple(node for _, node in group),
            ask_filters(engine, group[0][0], rows),
        )
        for group in groups.values()
    ]
    return _state(engine, rows, kinds)


def _state(engine: Engine, rows: Ints, kinds: list[AskedKind]) -> StatedProblem:
    names = tuple(engine.cluster.nodes.names[row] for row in rows.tolist())
    position = {name: at for at, name in enumerate(names)}
    # Terms first: they take away nodes that lack a label.
    spread = spreads(rows, kinds)
    attracted = attractions(engine.cluster, rows, kinds)
    apart = exclusions(engine.cluster, rows, kinds)
    problem = PlacementProblem(
        names,
        tuple(_pod_kind(kind, position) for kind in kinds),
        _free(engine, rows, kinds),
        apart,
        attracted,
        spread,
    )
    return StatedProblem(problem, tuple(kind.infos for kind in kinds), _ignored(engine, kinds))


def _pod_kind(kind: AskedKind, position: Mapping[str, int]) -> PodKind:
    held: dict[int, int] = {}
    for node in kind.nodes:
        if node:
            held[position[node]] = held.get(position[node], 0) + 1
    return PodKind(
        len(kind.infos),
        _demands(kind.infos[0], kind.answer),
        frozenset(np.flatnonzero(kind.answer.fits).tolist()),
        kind.infos[0].priority,
        held,
    )


def _demands(info: PodInfo, answer: StandingAnswer) -> dict[str, int]:
    """What a pod must find free and also takes, so that a node is full when the sums say so."""
    if answer.demands is None:
        return answer.amounts
    taken = info.shape.accounted
    found: dict[str, int] = {}
    for resource, amount, _ in answer.demands:
        found[resource] = max(found.get(resource, 0), min(amount, taken.get(resource, 0)))
    positive = {name: amount for name, amount in found.items() if amount > 0}
    return {PODS: 1, **positive, **answer.amounts}


def _free(engine: Engine, rows: Ints, kinds: list[AskedKind]) -> list[dict[str, int]]:
    nodes, usage = engine.cluster.nodes, engine.cluster.usage
    usage.grow()
    free: list[dict[str, int]] = [
        {PODS: int(nodes.allowed_pods[row] - usage.pod_count[row])} for row in rows.tolist()
    ]
    demands = {
        (demand.resource, demand.delegable)
        for kind in kinds
        for demand in kind.answer.demands or ()
    }
    for resource, is_delegable in sorted(demands):
        index = nodes.resources.find(resource)
        if index < 0:
            continue
        left = (nodes.allocatable[index][rows] - usage.requested_of(index)[rows]).tolist()
        for at, amount in enumerate(left):
            # A device class serves nodes that have none of the resource.
            if not (is_delegable and nodes.allocatable[index][rows[at]] == 0):
                free[at][resource] = int(amount)
    for at, counted in enumerate(_free_amounts(rows, kinds)):
        free[at] |= counted
    return free


def _free_amounts(rows: Ints, kinds: list[AskedKind]) -> list[dict[str, int]]:
    """What is left of what plugins count themselves. A name that several use is of different things
    (the cards of two dialects), and is left out."""
    free: list[dict[str, int]] = [{} for _ in rows]
    counting = {id(plugin): plugin for kind in kinds for plugin in kind.answer.counting}
    left = [plugin.count_free(rows) for plugin in counting.values()]
    users = Counter(name for of_plugin in left for name in {n for each in of_plugin for n in each})
    for of_plugin in left:
        for at, amounts in enumerate(of_plugin):
            free[at] |= {name: left for name, left in amounts.items() if users[name] == 1}
    return free


def _ignored(engine: Engine, kinds: list[AskedKind]) -> tuple[str, ...]:
    found = {name: f"plugin {name}" for kind in kinds for name in sorted(kind.answer.disbelieved)}
    told = [found[name] for name in sorted(found)]
    firsts = [kind.infos[0].pod for kind in kinds]
    if any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None
        for pod in firsts
        for volume in pod.spec.volumes or ()
    ):
        told.append("volumes that pods compete for")
    told += dict.fromkeys(text for kind in kinds for text in kind.answer.leaves_out)
    if any(pod.spec.resource_claims for pod in firsts):
        told.append("devices that pods compete for")
    if any(pod.spec.scheduling_group is not None for pod in firsts):
        told.append("groups of pods that start together")
    if engine.configuration.extenders:
        told.append("extenders")
    return tuple(told)
