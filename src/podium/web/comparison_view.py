"""Configurations side by side, as far as views show more than the comparison itself says: nodes
one by one, waiting times, and pods with reasons.

Contract: bounded as reports are; `differentPods` is how many pods there are in truth.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np

from podium.api.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from podium.cluster.growth import Ints
from podium.explain.utilisation import Load
from podium.simulator import Scenario
from podium.what_if.comparison_answer import ComparisonAnswer, PodPlace
from podium.what_if.node_selection import zone_of
from podium.what_if.run_metrics import WAIT_PERCENTILES

MAX_PODS: Final = 20_000
_FIRST: Final = (CPU, MEMORY)
_ALWAYS: Final = {CPU, MEMORY, "pods"}


def comparison_view(answer: ComparisonAnswer, before: Load, scenario: Scenario) -> dict[str, Any]:
    """`before` is the load that all runs begin with."""
    different = answer.different_pods
    zones = {node.metadata.name: zone_of(node) for node in scenario.nodes}
    loads = [answer.first_run(index).load or before for index in range(len(answer.names))]
    return {
        "nodes": list(before.nodes),
        "zones": [zones.get(name, "") for name in before.nodes],
        "resources": [_resource(name, before, loads) for name in _resources(before, loads)],
        "waits": {
            "percentiles": list(WAIT_PERCENTILES),
            "configurations": [_waits(answer.waits(at)) for at in range(len(answer.names))],
        },
        "differentPods": len(different),
        "pods": [_pod(places) for places in different[:MAX_PODS]],
    }


def _resources(before: Load, loads: Sequence[Load]) -> list[str]:
    """Those that every node has, and those that somebody requests."""
    names = {name for load in (before, *loads) for name in load.resources}
    used = {
        name
        for name in names - {EPHEMERAL_STORAGE} - _ALWAYS
        if any(_amounts(load, name, load.requested).any() for load in (before, *loads))
    }
    return [*_FIRST, "pods", *sorted(used)]


def _resource(name: str, before: Load, loads: Sequence[Load]) -> dict[str, Any]:
    return {
        "name": name,
        "allocatable": _amounts(loads[0], name, loads[0].allocatable).tolist(),
        "before": _amounts(before, name, before.requested).tolist(),
        "after": [_amounts(load, name, load.requested).tolist() for load in loads],
    }


def _amounts(load: Load, name: str, of: Ints) -> Ints:
    if name not in load.resources:
        return np.zeros(len(load.nodes), dtype=np.int64)
    amounts: Ints = of[load.resources.index(name)]
    return amounts


def _waits(runs: Sequence[tuple[float, ...]]) -> Mapping[str, list[float]]:
    columns = list(zip(*runs, strict=True))
    return {
        "mean": [fmean(column) for column in columns],
        "lowest": [min(column) for column in columns],
        "highest": [max(column) for column in columns],
    }


def _pod(places: Sequence[PodPlace]) -> dict[str, Any]:
    return {
        "pod": places[0].pod,
        "places": [
            {"outcome": place.outcome, "node": place.node or None, "why": place.why}
            for place in places
        ],
    }
