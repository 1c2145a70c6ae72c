"""The GPU extender for a cluster that others run, until a signal.

It serves from the start, so that probes are answered, and says that it is not ready until all nodes
and pods were listed. Told to stop it takes no new calls, ends those under way, and goes.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from podium import __version__
from podium.addons.extenders.serving import Listening, check_listening, serve_until
from podium.addons.gpu.extender.application import GPUExtenderApplication, GPUExtenderOptions
from podium.client import KubeClient
from podium.client.connection import transport_for
from podium.live.tasks import running_part, stop_on_signal, wait_while_running
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.engine.garbage import seldom_collected

_REQUEST_S: Final = 10.0
"""How long one request to the API server may take: schedulers do not wait for long."""


async def run_gpu_extender(
    settings: ClientSettings,
    options: GPUExtenderOptions,
    listening: Listening,
    *,
    on_listening: Callable[[str], None] = lambda _: None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Until SIGTERM or SIGINT; `on_listening` hears the address. Raises InputError."""
    check_listening(listening)
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    client = KubeClient(transport, field_manager="podium-gpu-extender", timeout_s=_REQUEST_S)
    application = GPUExtenderApplication(client, options)
    stopping = stop_on_signal()
    try:
        async with running_part(application.run()) as running:
            serving = serve_until(application.service, listening, on_listening, stopping)
            async with running_part(_settle(application, on_ready)):
                await wait_while_running(serving, running)
    finally:
        await transport.close()


async def _settle(application: GPUExtenderApplication, on_ready: Callable[[], None]) -> None:
    """Tell that everything was listed, and put it aside: a look for garbage among the objects of a
    thousand nodes would keep a call waiting for longer than it takes. Until cancelled."""
    await application.watch.synced.wait()
    with seldom_collected():
        on_ready()
        await asyncio.Event().wait()
