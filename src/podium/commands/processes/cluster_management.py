"""What the scheduler of a whole cluster tells of itself: the same pages as those of `podium run`.

The certificate is the API server's, so that whoever trusts the one trusts the other, and the API
server is asked who may look: the token in the kubeconfig opens both. They are served by the API
server's loop, which answers while a plugin holds up the scheduler's.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from podium.apiserver.serving.server import ApiServer
from podium.client import KubeClient
from podium.commands.processes.other_loop import LoopEnded, run_in
from podium.commands.processes.served_cluster import ServedCluster
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly
from podium.live.management import SchedulerParts, management_server
from podium.live.metrics import SchedulerMetrics
from podium.live.serving import ManagementServer, Reviewers
from podium.net.serving.loop_calls import LoopCalls
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags


def scheduler_parts(assembly: Assembly, client: KubeClient) -> SchedulerParts:
    """What there is to see of a scheduler that leads for as long as it runs."""
    engine = assembly.engine
    return SchedulerParts(
        engine,
        SchedulerMetrics(engine),
        None,
        assembly.records,
        assembly.scheduler.synced.is_set,
        lambda: False,
        lambda _: None,
        client,
    )


@contextlib.asynccontextmanager
async def scheduler_management(
    served: ServedCluster, port: int, parts: SchedulerParts, client: KubeClient, gates: FeatureGates
) -> AsyncIterator[ManagementServer]:
    """Serves for as long as the context; port 0 is any free one. Raises StartRefused."""
    calls = LoopCalls(asyncio.get_running_loop())
    management = _management(served.server, port, parts, client, gates, calls)
    try:
        await run_in(served.loop, management.start)
        yield management
    finally:
        with contextlib.suppress(LoopEnded):
            await run_in(served.loop, management.stop)


def _management(
    server: ApiServer,
    port: int,
    parts: SchedulerParts,
    client: KubeClient,
    gates: FeatureGates,
    calls: LoopCalls,
) -> ManagementServer:
    address = urlsplit(server.url).hostname or ""
    flags = {
        "bind-address": address,
        "secure-port": str(port),
        "authentication-skip-lookup": "true",
    }
    if server.certificates is not None:
        flags["tls-cert-file"] = str(server.certificates.certificate_file)
        flags["tls-private-key-file"] = str(server.certificates.key_file)
    options = options_of(parse_flags([f"--{name}={value}" for name, value in flags.items()]))
    reviewers = Reviewers(client, client)
    configuration = parts.engine.configuration
    return management_server(options, flags, configuration, gates, parts, reviewers, calls=calls)
