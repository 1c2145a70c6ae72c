"""Configurations side by side, as far as views show more than the comparison itself says: nodes
one by one, waiting times, and pods with reasons.

Contract: bounded as reports are; `differentPods` is how many pods there are in truth.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from podium.kubernetes.rules.node_zones import zone_of
from podium.kubernetes.rules.requests import EPHEMERAL_STORAGE
from podium.offline.simulate import Scenario
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import NodeLoads, PodPlace
from podium.offline.what_if.run_metrics import WAIT_PERCENTILES

MAX_PODS: Final = 20_000


def comparison_view(answer: ComparisonAnswer, scenario: Scenario) -> dict[str, Any]:
    different = answer.different_pods
    zones = {node.metadata.name: zone_of(node) for node in scenario.nodes}
    found = [answer.first_run(index).loads for index in range(len(answer.names))]
    loads = [each for each in found if each is not None]
    nodes = loads[0].nodes if loads else ()
    return {
        "nodes": list(nodes),
        "zones": [zones.get(name, "") for name in nodes],
        "resources": list(_resources(loads)),
        "waits": {
            "percentiles": list(WAIT_PERCENTILES),
            "configurations": [_waits(answer.waits(at)) for at in range(len(answer.names))],
        },
        "differentPods": len(different),
        "pods": [_pod(places) for places in different[:MAX_PODS]],
    }


def _resources(loads: Sequence[NodeLoads]) -> Iterator[dict[str, Any]]:
    """Those that every node has first; what only some runs have given away is 0 in the others."""
    by_name = [{each.name: each for each in load.resources} for load in loads]
    names = dict.fromkeys(name for found in by_name for name in found)
    for name in names:
        known = next(found[name] for found in by_name if name in found)
        if name == EPHEMERAL_STORAGE:
            continue
        yield {
            "name": name,
            "allocatable": list(known.allocatable),
            "before": list(known.before),
            "after": [
                list(found[name].after) if name in found else [0] * len(known.before)
                for found in by_name
            ],
        }


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
