"""Play: a newcomer changes the cluster of `podium up` from the page and watches the decisions.

Only the page that `podium up` serves on loopback has it: there the cluster is a simulated one in
this process, and whoever has the link has started it. Steps are carried out one after the other.
Contract: steps are bounded in size, in kind and in rate.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote

from podium.client import KubeClient
from podium.client.api_errors import NotFound
from podium.client.resources import PRIORITY_CLASSES
from podium.net.files.versioned_documents import add_version
from podium.scheduler.engine import Engine
from podium.simulated.names import FAILURE
from podium.web.access import Refused
from podium.web.page_documents import Document, NotThere, Parameters
from podium.web.play_commands import write_command
from podium.web.play_decisions import RecentDecisions
from podium.web.play_examples import URGENT, play_examples
from podium.web.play_steps import (
    MAX_STEP_BYTES,
    Outcome,
    SetWeights,
    Step,
    UnknownStep,
    outcome_document,
    read_step,
)
from podium.web.play_weights import PlayWeights, WrongWeights
from podium.web.play_writes import ClusterSteps

MAX_LISTED: Final = 100
RATE_PER_S: Final = 10.0
BURST: Final = 30
_ZONE: Final = "topology.kubernetes.io/zone"
_FILE: Final = "scheduler.yaml"


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
                return add_version("PlayView", self._view(words.lower().split()))
            case ["examples", profile]:
                return self._examples(unquote(profile))
        raise NotThere("there is no such document")

    def _view(self, words: list[str]) -> dict[str, Any]:
        engine = self._engine()
        cluster = engine.cluster
        names = [cluster.nodes.names[row] for row in cluster.node_order().tolist()]
        nodes = [name for name in names if all(word in name for word in words)]
        pod_count, pods = _find_pods(engine, words)
        return {
            "profiles": self._weights.document(),
            "nodeCount": len(nodes),
            "nodes": list(_nodes(engine, nodes[:MAX_LISTED])),
            "podCount": pod_count,
            "pods": list(_pods(engine, pods)),
            "decisionCount": self._decisions.count,
            "decisions": self._decisions.document(),
        }

    async def _examples(self, profile: str) -> Document:
        engine = self._engine()
        if profile not in engine.profiles:
            raise NotThere("there is no such profile")
        try:
            await self._client.get(PRIORITY_CLASSES, URGENT)
            has_urgent = True
        except NotFound:
            has_urgent = False
        found = play_examples(engine, profile, has_urgent=has_urgent)
        return add_version("PlayExamples", {"examples": found})

    # --- steps --------------------------------------------------------------------------------

    async def take_step(self, body: bytes | bytearray) -> Document:
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
        return add_version("PlayStep", outcome_document(outcome, mark))

    async def _carry_out(self, step: Step) -> Outcome:
        if not isinstance(step, SetWeights):
            return await self._steps.carry_out(step)
        outcome = Outcome([])
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


def _nodes(engine: Engine, names: list[str]) -> Iterator[dict[str, Any]]:
    cluster = engine.cluster
    cluster.usage.grow()
    cpu = cluster.nodes.resources.id("cpu")
    for name in names:
        row = cluster.nodes.row(name)
        node = cluster.nodes.node(row)
        yield {
            "name": name,
            "zone": (node.metadata.labels or {}).get(_ZONE),
            "cordoned": node.spec.unschedulable,
            "failed": bool(node.metadata.annotation(FAILURE)),
            "taints": [taint.key for taint in node.spec.taints or ()],
            "pods": int(cluster.usage.pod_count[row]),
            "cpu": {
                "allocatable": int(cluster.nodes.allocatable[cpu, row]),
                "requested": int(cluster.usage.requested[cpu, row]),
            },
        }


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


def _pods(engine: Engine, keys: list[str]) -> Iterator[dict[str, Any]]:
    for key in keys:
        pod = engine.state.pods[key]
        yield {
            "pod": key,
            "node": pod.spec.node_name or None,
            "phase": pod.status.phase or "Pending",
            "leaving": pod.metadata.deletion_timestamp is not None,
            "owner": pod.metadata.controller.kind if pod.metadata.controller else None,
        }
