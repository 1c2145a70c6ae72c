"""Play: a newcomer changes the cluster of `podium up` from the page and watches the decisions.

Only the page that `podium up` serves on loopback has it: there the cluster is a simulated one in
this process, and whoever has the link has started it. Steps are carried out one after the other.
Contract: steps are bounded in size, in kind and in rate.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar, Final
from urllib.parse import unquote

from podium.client import KubeClient
from podium.client.api_errors import NotFound
from podium.client.resources import PRIORITY_CLASSES
from podium.golang.document_structs import Count, Document, DocumentPart, PodKey
from podium.scheduler.engine import Engine
from podium.simulated.names import FAILURE
from podium.web.access import Refused
from podium.web.page_documents import NotThere, Parameters
from podium.web.play_commands import write_command
from podium.web.play_decisions import DecisionNotice, RecentDecisions
from podium.web.play_examples import URGENT, PlayExamples, play_examples
from podium.web.play_steps import (
    MAX_STEP_BYTES,
    PlayStep,
    SetWeightsStep,
    Step,
    StepOutcome,
    UnknownStep,
    read_step,
)
from podium.web.play_weights import PlayWeights, WeightsOfProfile, WrongWeights
from podium.web.play_writes import ClusterSteps

MAX_LISTED: Final = 100
RATE_PER_S: Final = 10.0
BURST: Final = 30
_ZONE: Final = "topology.kubernetes.io/zone"
_FILE: Final = "scheduler.yaml"


class PlayNodeCpu(DocumentPart, frozen=True):
    """A node's cores."""

    allocatable: int
    """What pods may have, in thousandths of a core."""
    requested: int
    """What pods ask for, in thousandths of a core."""


class PlayNode(DocumentPart, frozen=True):
    """A node that steps can be about."""

    name: str
    """Its name."""
    zone: str | None
    """Its zone."""
    cordoned: bool
    """Whether it takes no new pods."""
    failed: bool
    """Whether it was told to fail."""
    taints: tuple[str, ...]
    """Keys of its taints."""
    pods: Count
    """Pods on it."""
    cpu: PlayNodeCpu
    """Its cores."""


class PlayPod(DocumentPart, frozen=True):
    """A pod that steps can be about."""

    pod: PodKey
    """The pod."""
    node: str | None
    """The node."""
    phase: str
    """Its phase."""
    leaving: bool
    """Whether it is being deleted."""
    owner: str | None
    """The kind of its controller."""


class PlayView(Document, frozen=True, kw_only=True):
    """What can be changed on the page, and what the scheduler did last."""

    KIND: ClassVar[str] = "PlayView"

    profiles: tuple[WeightsOfProfile, ...]
    """The profiles of the scheduler."""
    node_count: Count
    """How many nodes have the words in their names."""
    nodes: tuple[PlayNode, ...]
    """The first of them."""
    pod_count: Count
    """How many pods have the words in their names."""
    pods: tuple[PlayPod, ...]
    """The first of them, those without a node before the others."""
    decision_count: Count
    """How many decisions were told of since the start."""
    decisions: tuple[DecisionNotice, ...]
    """The last ones, the newest first."""


class Play:
    max_bytes = MAX_STEP_BYTES

    def __init__(
        self,
        engine: Callable[[], Engine],
        client: KubeClient,
        decisions: RecentDecisions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`engine` is the one at work now, `client` that of the cluster's user."""
        self._engine = engine
        self._client = client
        self._decisions = decisions
        self._weights = PlayWeights(engine)
        self._steps = ClusterSteps(client)
        self._turn = asyncio.Lock()
        self._clock = clock
        self._allowed = float(BURST)
        self._taken = 0
        self._asked_at = clock()

    @property
    def mark(self) -> str:
        """Moves when there is something new to list."""
        return f"{self._decisions.count}.{self._taken}"

    # --- documents ----------------------------------------------------------------------------

    def document(self, names: list[str], parameters: Parameters) -> Document | Awaitable[Document]:
        """Raises NotThere."""
        match names:
            case []:
                words = next(iter(parameters.get("q", ())), "")
                return self._view(words.lower().split())
            case ["examples", profile]:
                return self._examples(unquote(profile))
        raise NotThere("there is no such document")

    def _view(self, words: list[str]) -> PlayView:
        engine = self._engine()
        cluster = engine.cluster
        names = [cluster.nodes.names[row] for row in cluster.node_order().tolist()]
        nodes = [name for name in names if all(word in name for word in words)]
        pod_count, pods = _find_pods(engine, words)
        return PlayView(
            profiles=self._weights.document(),
            node_count=len(nodes),
            nodes=tuple(_nodes(engine, nodes[:MAX_LISTED])),
            pod_count=pod_count,
            pods=tuple(_pods(engine, pods)),
            decision_count=self._decisions.count,
            decisions=self._decisions.document(),
        )

    async def _examples(self, profile: str) -> PlayExamples:
        engine = self._engine()
        if profile not in engine.profiles:
            raise NotThere("there is no such profile")
        try:
            await self._client.get(PRIORITY_CLASSES, URGENT)
            has_urgent = True
        except NotFound:
            has_urgent = False
        return PlayExamples(play_examples(engine, profile, has_urgent=has_urgent))

    # --- steps --------------------------------------------------------------------------------

    async def take_step(self, body: bytes | bytearray) -> PlayStep:
        """Raises Refused."""
        self._count()
        try:
            step = read_step(body)
        except UnknownStep as problem:
            raise Refused(400, str(problem)) from None
        async with self._turn:
            mark = self._decisions.count
            outcome = await self._carry_out(step)
            self._taken += 1
        return PlayStep.of(outcome, mark)

    async def _carry_out(self, step: Step) -> StepOutcome:
        if not isinstance(step, SetWeightsStep):
            return await self._steps.carry_out(step)
        outcome = StepOutcome([])
        try:
            self._weights.set(step.profile, step.weights)
        except WrongWeights as problem:
            outcome.problem = str(problem)
            return outcome
        file = self._weights.file(step.profile)
        if file is None:
            outcome.done.append(f"the weights of {step.profile} are those of the start again")
        else:
            outcome.done.append(f"weights of {step.profile} are in force from the next pod on")
            outcome.commands.append(write_command(file, _FILE))
            outcome.commands.append(f"podium up --config {_FILE}")
        return outcome

    def _count(self) -> None:
        now = self._clock()
        gained = (now - self._asked_at) * RATE_PER_S
        self._allowed = min(BURST, self._allowed + gained)
        self._asked_at = now
        if self._allowed < 1:
            raise Refused(429, "that is too much at once; wait a moment")
        self._allowed -= 1


def _nodes(engine: Engine, names: list[str]) -> Iterator[PlayNode]:
    cluster = engine.cluster
    cluster.usage.grow()
    cpu = cluster.nodes.resources.id("cpu")
    for name in names:
        row = cluster.nodes.row(name)
        node = cluster.nodes.node(row)
        yield PlayNode(
            name=name,
            zone=(node.metadata.labels or {}).get(_ZONE),
            cordoned=node.spec.unschedulable,
            failed=bool(node.metadata.annotation(FAILURE)),
            taints=tuple(taint.key for taint in node.spec.taints or ()),
            pods=int(cluster.usage.pod_count[row]),
            cpu=PlayNodeCpu(
                allocatable=int(cluster.nodes.allocatable[cpu, row]),
                requested=int(cluster.usage.requested[cpu, row]),
            ),
        )


def _find_pods(engine: Engine, words: list[str]) -> tuple[int, list[str]]:
    """How many pods have some words in their names, and some of them: those without a node first,
    then the newest."""
    count = 0
    waiting: deque[str] = deque(maxlen=MAX_LISTED)
    placed: deque[str] = deque(maxlen=MAX_LISTED)
    for key, pod in engine.state.pods.items():
        if not words or all(word in key for word in words):
            count += 1
            (placed if pod.spec.node_name else waiting).append(key)
    return count, [*reversed(waiting), *reversed(placed)][:MAX_LISTED]


def _pods(engine: Engine, keys: list[str]) -> Iterator[PlayPod]:
    for key in keys:
        pod = engine.state.pods[key]
        yield PlayPod(
            pod=key,
            node=pod.spec.node_name or None,
            phase=pod.status.phase or "Pending",
            leaving=pod.metadata.deletion_timestamp is not None,
            owner=pod.metadata.controller.kind if pod.metadata.controller else None,
        )
