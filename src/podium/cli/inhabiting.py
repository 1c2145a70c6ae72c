"""Running a population against a server, from the first request to a clean stop."""

import asyncio
import contextlib
import signal

from podium import __version__
from podium.api.errors import InputError
from podium.cli.options import progress_bar
from podium.cli.printing import print_line
from podium.client import KubeClient, Unreachable
from podium.client.api_errors import ApiError
from podium.client.connection import transport_for
from podium.config.flags.client_settings import ClientSettings
from podium.simulated_cluster import ClusterClock, SimulatedCluster, SimulatedClusterOptions
from podium.simulated_cluster.rivals import rival_of


async def inhabit(
    settings: ClientSettings, options: SimulatedClusterOptions, *, speed: float, cleanup: bool
) -> None:
    """Until SIGTERM or SIGINT. Raises InputError."""
    server = settings.cluster.server
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    client = KubeClient(transport, field_manager="podium")
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    try:
        await _refuse_rivals(client, options)
        await _live(client, options, server, speed, stopping, cleanup=cleanup)
    except ApiError as problem:
        raise InputError(f"says no: {problem}", source=server) from None
    except Unreachable as problem:
        raise InputError(f"cannot be reached: {problem}", source=server) from None
    finally:
        await transport.close()
    print_line("podium: stopped", error=True)


async def _refuse_rivals(client: KubeClient, options: SimulatedClusterOptions) -> None:
    await client.request("GET", "/version")
    rival = await rival_of(client, options.controllers)
    if rival is not None:
        raise InputError(
            f"{rival.name} is at work in this cluster, {rival.age_s:.0f} s ago at the latest",
            remedy="use --controllers none",
        )


async def _live(
    client: KubeClient,
    options: SimulatedClusterOptions,
    server: str,
    speed: float,
    stopping: asyncio.Event,
    *,
    cleanup: bool,
) -> None:
    with progress_bar("starting", max(1, len(options.nodes))) as bar:
        (task,) = bar.task_ids
        population = SimulatedCluster(
            client,
            options,
            clock=ClusterClock(speed),
            on_progress=lambda step: bar.update(
                task, description=step.what, completed=step.done, total=step.total
            ),
        )
        running = asyncio.ensure_future(population.run())
        started = asyncio.ensure_future(population.started.wait())
        stopped = asyncio.ensure_future(stopping.wait())
        await asyncio.wait((running, started, stopped), return_when=asyncio.FIRST_COMPLETED)
    try:
        if population.started.is_set():
            print_line(f"podium: {_summary(options, speed)} at {server}")
        await asyncio.wait((running, stopped), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        if cleanup and population.started.is_set():
            await population.remove_nodes()
    finally:
        for each in (running, started, stopped):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


def _summary(options: SimulatedClusterOptions, speed: float) -> str:
    parts = [f"{len(options.nodes)} nodes"]
    if options.controllers:
        parts.append(f"{len(options.controllers)} controllers")
    how = f", {speed:g} times as fast" if speed != 1 else ""
    return " and ".join(parts) + how
