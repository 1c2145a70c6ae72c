"""A whole cluster in one process: API server, simulated nodes, controllers and the scheduler.

Nodes, controllers and scheduler reach the server without sockets, by the same client that they
would use over HTTP; everybody else connects to its port. The scheduler has the main thread, all
others one of their own (`served_cluster`), so that a plugin that takes long holds up pods and not
the server. The parts are started in the order in which they need each other and stopped in the
opposite one, each once the one before it is through.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from podium.apiserver.serving.server import ApiServer
from podium.client import KubeClient, Unreachable
from podium.client.api_errors import ApiError
from podium.commands.processes.applying import apply_documents
from podium.commands.processes.cluster_scheduler import ClusterScheduler, SchedulerPlan
from podium.commands.processes.served_cluster import USER, served_cluster
from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.nodes import NOT_READY
from podium.live.tasks import (
    Part,
    run_until_stopped,
    running_part,
    stop_on_signal,
    wait_while_running,
)
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.framework.events import WatchedKind
from podium.simulated.cluster import SimulatedClusterOptions

_SETTLING_S: Final = 3.0
_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What a cluster is made of; `documents` are objects to begin with, `warn` is told of those
    that the server does not know, `beside` runs for as long as the cluster is up."""

    simulated: SimulatedClusterOptions
    scheduler_plan: SchedulerPlan
    speed: float = 1.0
    documents: Sequence[SourceDocument] = ()
    warn: Callable[[InputError], None] = field(default=lambda _: None)
    beside: "Callable[[RunningCluster], Coroutine[Any, Any, None]] | None" = None


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A cluster that is up; a part of it that ends has broken. `serving_loop` goes on while a
    plugin holds up the scheduler."""

    client: KubeClient
    scheduler: ClusterScheduler
    serving_loop: asyncio.AbstractEventLoop
    parts: tuple[Part, ...]

    @property
    def nodes(self) -> list[Node]:
        """As the scheduler sees them."""
        cluster = self.scheduler.engine.cluster
        return [cluster.nodes.node(row) for row in cluster.node_order().tolist()]


async def run_cluster(
    server: ApiServer,
    plan: ClusterPlan,
    started: Callable[[RunningCluster], None] = lambda _: None,
) -> None:
    """Until SIGTERM or SIGINT, however far it has come; `started` is called when all is up, before
    the first decision. Raises InputError."""
    try:
        await run_until_stopped(_live(server, plan, started), stop_on_signal())
    except ApiError as problem:
        raise InputError(f"the API server refuses: {problem}") from None
    except StartRefused as problem:
        raise InputError(f"the scheduler cannot start: {problem}") from None
    except Unreachable as problem:
        raise InputError(f"the API server does not answer: {problem}") from None


async def _live(
    server: ApiServer, plan: ClusterPlan, started: Callable[[RunningCluster], None]
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(whole_cluster(server, plan))
        started(cluster)
        parts = cluster.parts
        if plan.beside is not None:
            beside = running_part(plan.beside(cluster))
            parts = (*parts, await stack.enter_async_context(beside))
        if plan.documents:
            await wait_while_running(_wait_for_ready_nodes(cluster), *parts)
            applying = apply_documents(cluster.client, plan.documents, plan.warn)
            await wait_while_running(applying, *parts)
        await wait_while_running(asyncio.Event().wait(), *parts)


@contextlib.asynccontextmanager
async def whole_cluster(server: ApiServer, plan: ClusterPlan) -> AsyncIterator[RunningCluster]:
    """A cluster for as long as the context, without the objects to begin with."""
    authority = server.certificates.authority.decode("ascii") if server.certificates else ""
    options = replace(plan.simulated, root_ca=plan.simulated.root_ca or authority)
    kinds = plan.scheduler_plan.equipped.watched_kinds

    async def prepare(client: KubeClient) -> None:
        await _define_kinds(client, kinds)

    async with contextlib.AsyncExitStack() as stack:
        serving = served_cluster(server, options, plan.speed, prepare)
        served = await stack.enter_async_context(serving)
        client = KubeClient(served.transport, field_manager=USER)
        scheduler = ClusterScheduler(served, plan.scheduler_plan, client)
        work = await stack.enter_async_context(running_part(scheduler.run()))
        await wait_while_running(scheduler.ready.wait(), served.part, work)
        scheduler.may_decide.set()
        yield RunningCluster(client, scheduler, served.loop, (served.part, work))


async def _define_kinds(client: KubeClient, kinds: Sequence[WatchedKind]) -> None:
    """Have the server serve what the scheduler's plugins read. A cluster of a configuration that
    does not name them serves what Kubernetes serves and nothing else."""
    for kind in kinds:
        if kind.definition is not None:
            definition = kind.definition()
            place = f"plugin kind {kind.event_resource}"
            await apply_documents(client, [SourceDocument(place, 1, 1, definition)], _refuse)


def _refuse(problem: InputError) -> None:
    raise problem


async def _wait_for_ready_nodes(cluster: RunningCluster) -> None:
    """New nodes take no pods until they are seen to be ready; to begin sooner would only make
    pods wait that need not. Nodes that are never ready are not waited for."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SETTLING_S):
            while any(
                taint.key == NOT_READY for n in cluster.nodes for taint in n.spec.taints or ()
            ):
                await asyncio.sleep(_LOOK_S)
