"""Promises that answers to "how many more" and "how best" build on: `refusals_stand`,
`looks_at_sums`, `state_limits`, `sets_nothing_aside`, `lets_go`.

Whoever makes them is asked about many pods at once; one that promises too much makes `podium
capacity` count pods that do not fit, or `podium optimum` miss nodes.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import run_filters, run_pre_filters
from podium.scheduler.framework.points import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreFilterPlugin,
    ReservePlugin,
)
from podium.testing.fake_cluster import FakeCluster
from podium.testing.memory_promises import twin_of
from podium.testing.objects import seeded_pod

Case = tuple[str, str]

REFUSALS_STAND = "refusals_stand: what is refused stays refused while pods only come"
LOOKS_AT_SUMS = "looks_at_sums: sums and ports of a node tell what copies on it do"
LIMITS = "state_limits: what the filter lets in keeps to what it states"
COUNT_FREE = "count_free: one answer a row"
NOTHING_ASIDE = "sets_nothing_aside: reserve lets the pod in and keeps nothing"
LETS_GO = "lets_go: permit lets the pod go"


def check_placements(
    cluster: FakeCluster, name: str, pods: Sequence[Pod], randomness: Random
) -> Iterator[Case]:
    """The cluster is another one afterwards: pods have come."""
    plugin, table = cluster.plugin(name), cluster.engine.cluster
    names = [node.metadata.name for node in table.nodes.objects if node is not None]
    if not names:
        return
    for pod in pods:
        cycle = _begin(plugin, pod, table)
        if cycle is not None:
            yield from _check_later_points(plugin, cycle, names)
            if isinstance(plugin, FilterPlugin) and name not in cycle.skip_filter:
                yield from _check_limits(plugin, cycle, names)
    if plugin.refusals_stand:
        yield from _check_refusals(cluster, plugin, pods, names, randomness)
    if isinstance(plugin, FilterPlugin):
        for number, pod in enumerate(pods):
            yield from _check_sums(cluster, plugin, pod, number, randomness.choice(names))


def _begin(plugin: Plugin, pod: Pod, table: Cluster) -> Cycle | None:
    """A cycle after PreFilter; None where that refused the pod."""
    cycle = Cycle(table.infos.of(pod), table)
    if isinstance(plugin, PreFilterPlugin):
        outcome = run_pre_filters([plugin], cycle)
        if outcome.status is not None:
            return None
    return cycle


def _check_later_points(plugin: Plugin, cycle: Cycle, names: Sequence[str]) -> Iterator[Case]:
    pod = cycle.pod.pod.metadata.name
    for node in names:
        if isinstance(plugin, PermitPlugin) and plugin.lets_go(cycle):
            permitted = plugin.permit(cycle, node)
            if permitted is not None:
                yield LETS_GO, f"permit of {pod} on {node} was {permitted}"
        if isinstance(plugin, ReservePlugin) and plugin.sets_nothing_aside(cycle):
            status, kept = plugin.reserve(cycle, node), plugin.reserved(cycle)
            plugin.unreserve(cycle, node)
            if status is not None or kept:
                yield NOTHING_ASIDE, f"reserve of {pod} on {node} was {status} and kept {kept}"


def _check_limits(plugin: FilterPlugin, cycle: Cycle, names: Sequence[str]) -> Iterator[Case]:
    limits = plugin.state_limits(cycle)
    if limits is None:
        return
    rows = _rows_of(cycle, names)
    free: Sequence[Mapping[str, int]] = [{} for _ in names]
    if limits.amounts is not None:
        free = plugin.count_free(rows)
        if len(free) != len(rows):
            yield COUNT_FREE, f"{len(free)} answers for {len(rows)} rows"
            return
    pod, fits = cycle.pod.pod.metadata.name, run_filters([plugin], cycle, rows).mask_passed()
    for at in np.flatnonzero(fits).tolist():
        for name, amount in (limits.amounts or {}).items():
            if amount > free[at].get(name, amount):
                text = f"{pod} takes {amount} of {name} and fits on {names[at]}"
                yield LIMITS, f"{text}, which has {free[at][name]}"
        for demand in limits.requests or ():
            left, has = _room(cycle, int(rows[at]), demand.resource)
            if demand.amount > left and (has or not demand.delegable):
                text = f"{pod} asks for {demand.amount} of {demand.resource} and fits on"
                yield LIMITS, f"{text} {names[at]}, which has {left}"


def _room(cycle: Cycle, row: int, resource: str) -> tuple[int, int]:
    """What is free of a resource, and what there is of it."""
    index = cycle.nodes.resources.find(resource)
    if index < 0:
        return 0, 0
    has = int(cycle.nodes.allocatable[index][row])
    cycle.usage.grow()
    return has - int(cycle.usage.requested_of(index)[row]), has


def _check_refusals(
    cluster: FakeCluster,
    plugin: Plugin,
    pods: Sequence[Pod],
    names: Sequence[str],
    randomness: Random,
) -> Iterator[Case]:
    table = cluster.engine.cluster
    for number in range(3):
        before = [_find_refused_nodes(plugin, pod, table, names) for pod in pods]
        node = randomness.choice(names)
        cluster.put(seeded_pod(randomness, f"arrival-{number}", node=node))
        for pod, earlier in zip(pods, before, strict=True):
            for name in sorted(earlier - _find_refused_nodes(plugin, pod, table, names)):
                text = f"{pod.metadata.name} was refused on {name} and is not since a pod came to"
                yield REFUSALS_STAND, f"{text} {node}"


def _find_refused_nodes(plugin: Plugin, pod: Pod, table: Cluster, names: Sequence[str]) -> set[str]:
    """Nodes that are refused, by PreFilter or by Filter."""
    cycle = Cycle(table.infos.of(pod), table)
    refused: set[str] = set()
    if isinstance(plugin, PreFilterPlugin):
        outcome = run_pre_filters([plugin], cycle)
        if outcome.status is not None:
            return set(names)
        if outcome.nodes is not None:
            refused = set(names) - outcome.nodes
    if isinstance(plugin, FilterPlugin) and plugin.name not in cycle.skip_filter:
        passed = run_filters([plugin], cycle, _rows_of(cycle, names)).mask_passed()
        refused |= {name for name, fits in zip(names, passed.tolist(), strict=True) if not fits}
    return refused


def _check_sums(
    cluster: FakeCluster, plugin: FilterPlugin, pod: Pod, number: int, node: str
) -> Iterator[Case]:
    """A copy that is supposed to be on a node, and one that is."""
    table = cluster.engine.cluster
    cycle = _begin(plugin, pod, table)
    if cycle is None or plugin.name in cycle.skip_filter or not plugin.looks_at_sums(cycle):
        return
    rows = _rows_of(cycle, [node])
    usage = table.usage.fork()
    usage.suppose_alike(rows, np.ones(1, dtype=np.int64), cycle.pod)
    supposed = bool(run_filters([plugin], cycle.fork(usage), rows).mask_passed()[0])
    before = node in _find_refused_nodes(plugin, pod, table, [node])
    twin = twin_of(pod)
    metadata = replace(twin.metadata, name=f"copy-{number}", uid=f"uid-copy-{number}")
    cluster.put(replace(twin, metadata=metadata, spec=replace(twin.spec, node_name=node)))
    found = node not in _find_refused_nodes(plugin, pod, table, [node])
    name = pod.metadata.name
    if found != supposed:
        text = f"with a copy of {name} on {node} it was to {_does(supposed)} the next"
        yield LOOKS_AT_SUMS, f"{text}, and does {_does(found)} it"
    elif before and found:
        yield LOOKS_AT_SUMS, f"{name} was refused on {node}, and is let in beside a copy"


def _does(lets_in: bool) -> str:
    return "let in" if lets_in else "refuse"


def _rows_of(cycle: Cycle, names: Sequence[str]) -> Ints:
    return np.array([cycle.nodes.row(name) for name in names], dtype=np.intp)
