"""The scheduler of a whole cluster: an engine at work, and what it tells of itself.

With `--reload` there may be several, one after another: when a plugin's file has changed and loads,
the scheduler ends as it would on a signal, and another begins with the new plugin. It lists the
cluster as any scheduler does that starts, so nothing of the old one's memory is kept; the port on
which it tells of itself stays the same.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from random import SystemRandom
from urllib.parse import urlsplit

from podium.apiserver.serving.server import ApiServer
from podium.client import KubeClient
from podium.commands.processes.cluster_management import scheduler_management, scheduler_parts
from podium.commands.processes.kube_log import KubeLog
from podium.commands.processes.plugin_reloading import WatchedPluginFiles
from podium.commands.processes.served_cluster import ServedCluster
from podium.commands.processes.steady_time import steady_wall
from podium.commands.processes.trace_export import exported_traces
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly, live_engine
from podium.live.management import SchedulerParts
from podium.live.scheduling_log import SchedulingLog
from podium.live.tasks import Part, end_part, running_part
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.log import SILENT
from podium.user_code.plugins import Equipped


@dataclass(frozen=True, slots=True)
class PluginReload:
    """How plugins are loaded anew: from which files, and who hears of it."""

    files: WatchedPluginFiles
    equip: Callable[[], Equipped]
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SchedulerPlan:
    """`port` is where the scheduler tells of itself, 0 for any free one."""

    equipped: Equipped
    gates: FeatureGates
    port: int = 0
    observers: Callable[[Engine], tuple[Observer, ...]] = field(default=lambda _: ())
    log: KubeLog | None = None
    """Where the scheduler writes its log; nowhere without one."""
    reload: PluginReload | None = None


class ClusterScheduler:
    """Runs for as long as its task; `engine`, `parts` and `url` are there once it is `ready`."""

    def __init__(self, served: ServedCluster, plan: SchedulerPlan, client: KubeClient) -> None:
        self.ready = asyncio.Event()
        """Set when the cluster was listed."""
        self.may_decide = asyncio.Event()
        """To be set by whoever waited for `ready`; before that no pod is placed."""
        self.engine: Engine
        self.parts: SchedulerParts
        """What there is to see of the engine at work now."""
        self.url = ""
        """Where it tells of itself: metrics, health, records of its decisions."""
        self._served = served
        self._plan = plan
        self._client = client
        self._randomness = SystemRandom()

    async def run(self) -> None:
        """Raises StartRefused and ConfigurationError."""
        engine = self._new_engine(self._plan.equipped)
        while True:
            async with self._open_part(engine) as work:
                engine = await self._next_engine(work)

    @contextlib.asynccontextmanager
    async def _open_part(self, engine: Engine) -> AsyncIterator[Part]:
        plan = self._plan
        if plan.log is not None:
            lines = SchedulingLog(engine, plan.log, self._randomness)
            plan.log.on_verbosity(lines.set_verbosity)
        assembly = Assembly(
            engine,
            self._client,
            self._client,
            host="podium",
            randomness=self._randomness,
            observers=plan.observers(engine),
        )
        port = urlsplit(self.url).port or plan.port
        parts = scheduler_parts(assembly, self._client)
        management = scheduler_management(self._served, port, parts, self._client, plan.gates)
        traces = exported_traces(engine, os.environ, plan.log or KubeLog())
        async with management as telling, assembly.follow_cluster() as scheduler:
            self.url = telling.url
            await scheduler.ready()
            self.engine, self.parts = engine, parts
            self.ready.set()
            await self.may_decide.wait()
            with traces:
                async with running_part(scheduler.schedule()) as work:
                    yield work

    async def _next_engine(self, work: Part) -> Engine:
        """The engine for plugins that have changed. Raises what the work ends with before that."""
        reloading = asyncio.ensure_future(self._wait_for_reload())
        try:
            await asyncio.wait((work, reloading), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
                raise RuntimeError("the scheduler has ended")
            return reloading.result()
        finally:
            await end_part(reloading)

    async def _wait_for_reload(self) -> Engine:
        reload = self._plan.reload
        if reload is None:
            never: asyncio.Future[Engine] = asyncio.get_running_loop().create_future()
            return await never

        def load() -> Engine:
            return self._new_engine(reload.equip())

        def refuse(problem: str) -> None:
            reload.tell(f"the plugins before stay in force: {problem}")

        engine = await reload.files.wait_for_reload(load, refuse)
        reload.tell(f"plugins of {reload.files} are in force as they are now")
        return engine

    def _new_engine(self, equipped: Equipped) -> Engine:
        return live_engine(
            equipped.configuration,
            equipped.registry,
            wall=steady_wall(),
            randomness=self._randomness,
            gates=self._plan.gates,
            client_settings=_own_settings(self._served.server),
            log=self._plan.log or SILENT,
        )


def _own_settings(server: ApiServer) -> ClientSettings:
    """How plugins of the scheduler reach the server: over its socket, like everybody else."""
    authority = server.certificates.authority if server.certificates else b""
    cluster = ClusterEntry(server=server.url, certificate_authority_data=authority)
    return ClientSettings(cluster, UserEntry(token=server.token))
