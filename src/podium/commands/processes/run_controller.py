"""One controller alone, for a server that others run, until a signal.

It is the one of the simulated cluster, with nothing simulated about it: it reads what it watches
and writes status. With leader election several may be started, and one of them works at a time.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from random import SystemRandom
from typing import Final
from uuid import uuid4

from podium import __version__
from podium.client import KubeClient, ResourceType, Unreachable
from podium.client.api_errors import ApiError, NotFound
from podium.client.clock import unwrap_errors
from podium.client.connection import find_ended_process, transport_for
from podium.client.kube_client import served_in
from podium.commands.processes.defaults import CONTROLLER_WORKERS
from podium.commands.processes.kube_log import KubeLog
from podium.commands.processes.steady_time import steady_wall
from podium.golang.durations import Duration
from podium.golang.errors import InputError
from podium.live.leader_election import LeaderElection, LeadershipLost, new_identity
from podium.live.leader_election_thread import LeaderElectionThread, MonotonicClock
from podium.live.tasks import run_until_stopped, stop_on_signal
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.types import LeaderElectionConfiguration
from podium.simulated.clock import ClusterClock
from podium.simulated.control import make_control_loop
from podium.simulated.controller_registry import ControllerContext, custom_kind_of, make
from podium.simulated.informers import DiscoveredKinds, Informers
from podium.simulated.request_executor import RequestExecutor

_START_S: Final = 20.0


async def run_controller(
    settings: ClientSettings,
    name: str,
    *,
    workers: int = CONTROLLER_WORKERS,
    election: LeaderElectionConfiguration | None = None,
    on_started: Callable[[], None] = lambda: None,
) -> None:
    """A controller by its name in the registry, until SIGTERM or SIGINT; `on_started` is called
    when it begins to work. Raises InputError, also when the lease of an `election` is lost."""
    server = settings.cluster.server
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    client = KubeClient(transport, field_manager="podium")
    stopping = stop_on_signal()

    async def work() -> None:
        await _work(client, name, workers, on_started)

    try:
        if election is None:
            await run_until_stopped(work(), stopping)
        else:
            await run_until_stopped(_elect(settings, election).lead(work), stopping)
    except ApiError as problem:
        raise InputError(f"says no: {problem}", source=server) from None
    except Unreachable as problem:
        if problem.refused and (ended := find_ended_process(settings.cluster)) is not None:
            raise ended from None
        raise InputError(f"cannot be reached: {problem}", source=server) from None
    except LeadershipLost as problem:
        raise InputError(f"the lease is lost: {problem}", source=server) from None
    finally:
        await transport.close()


def election_settings(lease: str, namespace: str) -> LeaderElectionConfiguration:
    """With the times that Kubernetes' components have."""
    return LeaderElectionConfiguration(
        lease_duration=Duration.of_seconds(15),
        renew_deadline=Duration.of_seconds(10),
        retry_period=Duration.of_seconds(2),
        resource_lock="leases",
        resource_name=lease,
        resource_namespace=namespace,
    )


async def _work(
    client: KubeClient, name: str, workers: int, on_started: Callable[[], None]
) -> None:
    custom = custom_kind_of(name)
    if custom is not None:
        await _require_served(client, custom)
    informers, clock = Informers(), ClusterClock()
    context = ControllerContext(
        informers,
        client,
        RequestExecutor(client, informers),
        clock,
        DiscoveredKinds(client, clock),
        node_grace_s=0.0,
        root_ca="",
    )
    loop = make_control_loop(make(name, context), clock, workers=workers)
    with unwrap_errors(ApiError, Unreachable, InputError):
        async with asyncio.TaskGroup() as group:
            for store in informers.stores.values():
                group.create_task(store.run(client))
                await store.wait_for_sync(within_s=_START_S)
            on_started()
            await loop.run()


async def _require_served(client: KubeClient, kind: ResourceType) -> None:
    try:
        served = await served_in(client, kind.api_version)
    except NotFound:
        served = []
    if kind not in {each.resource for each in served}:
        raise InputError(
            f"the server does not serve {kind.plural} ({kind.api_version})",
            remedy="install their CustomResourceDefinition",
        )


def _elect(settings: ClientSettings, election: LeaderElectionConfiguration) -> LeaderElectionThread:
    """In a thread and over a connection of its own, so that the lease is renewed however long a
    plan or a list takes."""
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    log = KubeLog()
    return LeaderElectionThread(
        LeaderElection(
            KubeClient(transport, field_manager="podium"),
            election,
            new_identity(socket.gethostname(), uuid4()),
            clock=MonotonicClock(),
            wall=steady_wall(),
            randomness=SystemRandom(),
            log=log,
            component="podium-controller",
        ),
        close=transport.close,
        abandon=lambda: os._exit(1),
        log=log,
    )
