"""Simulated nodes and controllers for a server that others run, until a signal.

From the first request to a clean stop: a server that has controllers of its own at work is left
alone, and nodes can be deleted on the way out.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from podium import __version__
from podium.client import KubeClient, Unreachable
from podium.client.api_errors import ApiError
from podium.client.connection import find_ended_process, transport_for
from podium.client.credentials import authority_of
from podium.golang.errors import InputError
from podium.live.tasks import (
    Part,
    run_until_stopped,
    running_part,
    stop_on_signal,
    wait_while_running,
)
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.simulated.clock import ClusterClock
from podium.simulated.cluster import SimulatedCluster, SimulatedClusterOptions, StartProgress
from podium.simulated.control import rival_of


async def run_simulated_nodes(
    settings: ClientSettings,
    options: SimulatedClusterOptions,
    *,
    speed: float = 1.0,
    cleanup: bool = False,
    on_progress: Callable[[StartProgress], None] = lambda _: None,
    on_started: Callable[[], None] = lambda: None,
) -> None:
    """Until SIGTERM or SIGINT; `cleanup` deletes the nodes then. Raises InputError."""
    server = settings.cluster.server
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    client = KubeClient(transport, field_manager="podium")
    stopping = stop_on_signal()
    authority = authority_of(settings.cluster).decode("ascii", "replace")
    options = replace(options, root_ca=options.root_ca or authority)
    cluster = SimulatedCluster(client, options, clock=ClusterClock(speed), on_progress=on_progress)
    try:
        await _refuse_rivals(client, options)
        async with running_part(cluster.run()) as running:
            await run_until_stopped(_start(cluster, running, on_started), stopping)
            if cleanup and cluster.started.is_set():
                await cluster.remove_nodes()
    except ApiError as problem:
        raise InputError(f"says no: {problem}", source=server) from None
    except Unreachable as problem:
        if problem.refused and (ended := find_ended_process(settings.cluster)) is not None:
            raise ended from None
        raise InputError(f"cannot be reached: {problem}", source=server) from None
    finally:
        await transport.close()


async def _refuse_rivals(client: KubeClient, options: SimulatedClusterOptions) -> None:
    await client.request("GET", "/version")
    rival = await rival_of(client, options.controllers)
    if rival is not None:
        raise InputError(
            f"{rival.name} is at work in this cluster, {rival.age_s:.0f} s ago at the latest",
            remedy="use --controllers none",
        )


async def _start(cluster: SimulatedCluster, running: Part, on_started: Callable[[], None]) -> None:
    """Ends only if the cluster does, with what broke it."""
    await wait_while_running(cluster.started.wait(), running)
    on_started()
    await wait_while_running(asyncio.Event().wait(), running)
