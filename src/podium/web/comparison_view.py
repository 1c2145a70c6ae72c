"""Configurations side by side, as far as views show more than the comparison itself says: nodes
one by one, waiting times, and pods with reasons.

Contract: bounded as reports are; `differentPods` is how many pods there are in truth.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar, Final

from podium.golang.document_structs import Count, Document, DocumentPart, PodKey
from podium.kubernetes.rules.nodes import zone_of
from podium.kubernetes.rules.requests import EPHEMERAL_STORAGE
from podium.offline.simulate import PodOutcome, Scenario
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import NodeLoads, PodPlace
from podium.offline.what_if.run_metrics import WAIT_PERCENTILES

MAX_PODS: Final = 20_000


class ResourceFigures(DocumentPart, frozen=True):
    """A resource of all nodes."""

    name: str
    """Its name."""
    allocatable: tuple[int, ...]
    """What each node has for pods."""
    before: tuple[int, ...]
    """What pods had of each node at the beginning."""
    after: tuple[tuple[int, ...], ...]
    """The same in the end, for each configuration, with the first seed."""


class WaitsOverSeeds(DocumentPart, frozen=True):
    """Waiting times of one configuration at each percentile."""

    mean: tuple[float, ...]
    """The mean over seeds."""
    lowest: tuple[float, ...]
    """The least of all seeds."""
    highest: tuple[float, ...]
    """The most of all seeds."""


class ComparedWaits(DocumentPart, frozen=True):
    """Waiting times of placed pods, on the virtual clock."""

    percentiles: tuple[int, ...]
    """So many of 100 placed pods wait no longer."""
    configurations: tuple[WaitsOverSeeds, ...]
    """Seconds at each percentile, for each configuration."""


class ReasonedPlace(DocumentPart, frozen=True):
    """What comes of a pod under one configuration, and why."""

    outcome: PodOutcome
    node: str | None
    """Its node, if it has one."""
    why: str
    """What put this node first, or what the pod was told; empty if there was nothing to choose."""


class ReasonedPod(DocumentPart, frozen=True):
    """A pod that not all configurations treat alike."""

    pod: PodKey
    places: tuple[ReasonedPlace, ...]
    """What comes of it, for each configuration."""


class ComparisonView(Document, frozen=True):
    """What the report of `podium compare` shows beyond the comparison itself."""

    KIND: ClassVar[str] = "ComparisonView"

    nodes: tuple[str, ...]
    """Names of the nodes; all columns are in this order."""
    zones: tuple[str, ...]
    """The zone of each node, empty for none."""
    resources: tuple[ResourceFigures, ...]
    """Amounts of each resource: cpu in milli, memory in bytes."""
    waits: ComparedWaits
    """Waiting times of placed pods, on the virtual clock."""
    different_pods: Count
    """How many pods not all configurations treat alike, with the first seed."""
    pods: tuple[ReasonedPod, ...]
    """Those pods, as many as the report keeps."""


def comparison_view(answer: ComparisonAnswer, scenario: Scenario) -> ComparisonView:
    different = answer.different_pods
    zones = {node.metadata.name: zone_of(node) for node in scenario.nodes}
    found = [answer.first_run(index).loads for index in range(len(answer.names))]
    loads = [each for each in found if each is not None]
    nodes = loads[0].nodes if loads else ()
    configurations = tuple(_waits(answer.waits(at)) for at in range(len(answer.names)))
    return ComparisonView(
        nodes,
        tuple(zones.get(name, "") for name in nodes),
        tuple(_resources(loads)),
        ComparedWaits(tuple(WAIT_PERCENTILES), configurations),
        len(different),
        tuple(_pod(places) for places in different[:MAX_PODS]),
    )


def _resources(loads: Sequence[NodeLoads]) -> Iterator[ResourceFigures]:
    """Those that every node has first; what only some runs have given away is 0 in the others."""
    by_name = [{each.name: each for each in load.resources} for load in loads]
    names = dict.fromkeys(name for found in by_name for name in found)
    for name in names:
        known = next(found[name] for found in by_name if name in found)
        if name == EPHEMERAL_STORAGE:
            continue
        yield ResourceFigures(
            name,
            known.allocatable,
            known.before,
            tuple(
                found[name].after if name in found else (0,) * len(known.before)
                for found in by_name
            ),
        )


def _waits(runs: Sequence[tuple[float, ...]]) -> WaitsOverSeeds:
    columns = list(zip(*runs, strict=True))
    return WaitsOverSeeds(
        tuple(fmean(column) for column in columns),
        tuple(map(min, columns)),
        tuple(map(max, columns)),
    )


def _pod(places: Sequence[PodPlace]) -> ReasonedPod:
    return ReasonedPod(
        places[0].pod,
        tuple(
            ReasonedPlace(PodOutcome(place.outcome), place.node or None, place.why)
            for place in places
        ),
    )
