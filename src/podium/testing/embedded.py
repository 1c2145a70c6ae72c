"""A cluster without sockets: an API server in this process, and who lives in it.

    async with embedded_cluster(SimulatedClusterOptions(...)) as cluster:
        await cluster.client.create(...)

The one place where server and simulated cluster meet, since neither knows the other. The latter
speaks to the server through the same client as it would over HTTP; whoever runs a cluster this way
gets a client for it as well.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from podium.apiserver.access.tokens import Tokens
from podium.apiserver.http.app import Application
from podium.apiserver.serving.assembly import build_service
from podium.apiserver.store.store import Store
from podium.client import AsgiTransport, KubeClient
from podium.kubernetes.admission import AdmissionSettings
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.tasks import running_part, wait_while_running
from podium.simulated.clock import ClusterClock
from podium.simulated.cluster import SimulatedCluster, SimulatedClusterOptions

__all__ = ["EmbeddedCluster", "SimulatedClusterOptions", "embedded_cluster"]

_USER_AGENT: Final = {"User-Agent": "podium"}


@dataclass(frozen=True, slots=True)
class EmbeddedCluster:
    application: Application
    client: KubeClient
    simulated: SimulatedCluster


@contextlib.asynccontextmanager
async def embedded_cluster(
    options: SimulatedClusterOptions,
    *,
    speed: float = 1.0,
    wall: Callable[[], float] = time.time,
    seed: int | None = None,
    gates: FeatureGates | None = None,
) -> AsyncIterator[EmbeddedCluster]:
    """A cluster that lives for as long as the context; its nodes and controllers have started."""
    randomness = Random(seed)
    # New nodes take no pods until somebody has seen that they are ready, if somebody looks.
    settings = AdmissionSettings(taint_new_nodes="nodelifecycle" in options.controllers)
    application = _application(wall, randomness, settings, gates)
    client = KubeClient(AsgiTransport(application, _USER_AGENT))
    clock = ClusterClock(speed, wall)
    simulated = SimulatedCluster(client, options, clock=clock, randomness=randomness)
    try:
        async with running_part(simulated.run()) as running:
            await wait_while_running(simulated.started.wait(), running)
            yield EmbeddedCluster(application, client, simulated)
            if running.done():
                running.result()
    finally:
        application.stop()
        await application.close()


def _application(
    wall: Callable[[], float],
    randomness: Random,
    settings: AdmissionSettings,
    gates: FeatureGates | None,
) -> Application:
    """A server in memory that takes whoever calls it for its administrator."""
    tokens = Tokens("", anonymous_is_admin=True)
    service = build_service(
        Store(None),
        tokens,
        clock=wall,
        randomness=randomness,
        settings=settings,
        gates=gates or FeatureGates(),
        serves_metrics=True,
    )
    return Application(service, randomness)
