"""Why a pod has no node and what would have to change, worked out by an engine of its own.

The scheduler at work is never asked such questions: the objects that it knows at this moment, which
nobody changes, are given to a simulation of the same configuration in another thread, where the pod
is decided anew and changes are tried as `podium why --alone` does.

Contract: one analysis at a time; an answer is kept for a moment, so that a page that is opened
twice asks once.
"""

import asyncio
import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final

from podium.client import KubeClient, Selection, Unreachable
from podium.client.api_errors import ApiError
from podium.golang.document_structs import Count, Document, PodKey
from podium.kubernetes.controllers.stores import KINDS
from podium.kubernetes.controllers.workloads import Workload as Controller
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.kinds.typed_objects import decode_as
from podium.kubernetes.kinds.workloads import ADMISSION_KINDS
from podium.offline.simulate import ExplainedPod, PodOutcome, Scenario, Simulation
from podium.offline.simulate.read_kinds import ADMISSION
from podium.offline.simulate.report import answer_without_search
from podium.offline.simulate.scenario import admission_of
from podium.scheduler.engine import Engine
from podium.scheduler.engine.state import place_pod
from podium.scheduler.explain.cause_document import CauseInFull
from podium.scheduler.explain.proposals.answer_document import (
    ProposalInBrief,
    WorkloadPods,
    answer_fields,
)
from podium.scheduler.explain.proposals.owners import owner_of
from podium.scheduler.explain.proposals.search import find_proposals
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.scheduler.explain.proposals.workload_copy import RESOURCES
from podium.scheduler.explain.trial import Trial
from podium.web.decision_document import ExaminedMatrix, examined_matrix
from podium.web.page_documents import NotThere, TooBusy

KEPT_S: Final = 10.0
MAX_KEPT: Final = 32
MAX_WAITING: Final = 4


class PodAnalysis(Document, frozen=True, kw_only=True):
    """Why a pod has no node and what would have to change, worked out anew."""

    KIND: ClassVar[str] = "PodAnalysis"

    outcome: PodOutcome
    """What came of it."""
    message: str | None
    """Why it has no node."""
    premise: str
    """Under which assumption it was decided."""
    causes: tuple[CauseInFull, ...]
    """Why it has no node, the most important first."""
    matrix: ExaminedMatrix | None
    """Plugins by nodes."""
    like: PodKey | None
    """A pod that waits for the same reason and for which changes were looked for."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    fits: bool
    """Whether it gets a node."""
    node: str | None
    """The node."""
    victims: tuple[PodKey, ...]
    """Pods that have to leave first."""
    runs_on: str | None
    """Where it runs."""
    turned_away_from: str | None
    """The node that it had and lost."""
    workload: WorkloadPods | None
    """What the pod belongs to, null if nothing has made it."""
    trials: Count
    """How many attempts that took."""
    complete: bool
    """Whether the search went to its end."""
    proposals: tuple[ProposalInBrief, ...]
    """Changes that make it fit, the least disturbing first."""


@dataclass(frozen=True, slots=True)
class _Kept:
    at: float
    document: PodAnalysis


class Analyses:
    def __init__(self, clock: Callable[[], float], kubectl: Kubectl) -> None:
        self._clock = clock
        self._kubectl = kubectl
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def document(
        self, engine: Engine, key: str, client: KubeClient | None = None
    ) -> PodAnalysis:
        """`client` is asked how the pod's controller replaces pods. Raises NotThere and TooBusy."""
        held = self._kept.get(key)
        if held is not None and self._clock() - held.at < KEPT_S:
            return held.document
        if self._waiting >= MAX_WAITING:
            raise TooBusy("others are being analysed; try again in a moment")
        self._waiting += 1
        try:
            async with self._turn:
                scenario, runs_on = question(engine, key)
                around = await read_surroundings(engine, scenario.pending[0], client)
                made = await asyncio.to_thread(
                    analyse, engine, scenario, key, runs_on, self._kubectl, around
                )
        finally:
            self._waiting -= 1
        self._kept[key] = _Kept(self._clock(), made)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return made


def question(engine: Engine, key: str) -> tuple[Scenario, str]:
    """The cluster as the engine knows it, with this pod alone pending; and where it runs, if it
    does. Raises NotThere."""
    pod = engine.state.pods.get(key)
    if pod is None:
        raise NotThere("the scheduler knows no such pod any more")
    cluster = engine.cluster
    nodes = tuple(cluster.nodes.node(row) for row in cluster.node_order().tolist())
    running: list[Pod] = []
    for placement in cluster.placements.values():
        other, name = placement.info.pod, cluster.nodes.names[placement.row]
        if placement.info.key != key:
            running.append(other if other.spec.node_name else place_pod(other, name))
    objects: tuple[KubeStruct, ...] = tuple(cluster.catalog.everything())
    pending = as_pending(pod)
    return Scenario(nodes, tuple(running), (pending,), objects), pod.spec.node_name


@dataclass(frozen=True, slots=True)
class UnwatchedObjects:
    """What the scheduler does not watch: the object that says how pods like this one are replaced,
    and what decides about new pods of its namespace."""

    controllers: Sequence[Controller] = ()
    admission_objects: tuple[KubeObject, ...] = ()


async def read_surroundings(
    engine: Engine, pod: Pod, client: KubeClient | None
) -> UnwatchedObjects:
    """What may not be read is left out; then the defaults of a controller's kind are taken."""
    if client is None:
        return UnwatchedObjects()
    namespace = pod.metadata.namespace
    controllers: list[Controller] = []
    owner = owner_of(pod, engine.cluster.catalog)
    resource = RESOURCES.get(owner.kind) if owner is not None else None
    if owner is not None and resource is not None:
        with suppress(ApiError, Unreachable):
            written = await client.get(resource, owner.name, namespace)
            found = decode_as(written, KINDS[resource])
            controllers += [found] if isinstance(found, Controller) else []
    admission: list[KubeObject] = []
    for limit in ADMISSION:
        struct = ADMISSION_KINDS[limit.api_version, limit.kind]
        selection = Selection(namespace if limit.namespaced else "")
        with suppress(ApiError, Unreachable):
            page = await client.list(limit, selection)
            admission += [decode_as(bytes(each), struct) for each in page.items]
    return UnwatchedObjects(controllers, tuple(admission))


def analyse(
    engine: Engine,
    scenario: Scenario,
    key: str,
    runs_on: str,
    kubectl: Kubectl,
    around: UnwatchedObjects | None = None,
) -> PodAnalysis:
    """`engine` gives its configuration, plugins and gates, and nothing else; `kubectl` is how
    commands reach the cluster."""
    simulation = Simulation(
        scenario, engine.configuration, engine.registry, gates=engine.gates, watch=[key]
    )
    report = simulation.run(until=key)
    explained = ExplainedPod.of(report, key, runs_on=runs_on, alone=True)
    result = explained.result
    answer = answer_without_search(result)
    if answer is None:
        pod = simulation.engine.state.pods.get(key, result.pod)
        around = around or UnwatchedObjects()
        stored = dataclasses.replace(scenario, admission_objects=around.admission_objects)
        server = admission_of(stored, engine.gates)
        trial = Trial(simulation.engine, pod)
        answer = find_proposals(trial, around.controllers, kubectl, server)
    widest = explained.widest
    return PodAnalysis(
        outcome=result.outcome,
        message=result.message,
        premise=explained.premise,
        causes=tuple(map(CauseInFull.of, explained.causes)),
        matrix=examined_matrix(widest) if widest is not None else None,
        like=None,
        **answer_fields(answer, runs_on=runs_on),
        proposals=tuple(map(ProposalInBrief.of, answer.proposals)),
    )
