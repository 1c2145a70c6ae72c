"""The scheduler that `podium run` has prepared, from its first request to its last.

The order is kube-scheduler's (`cmd/kube-scheduler/app/server.go`, `Run`): the endpoints are served
before anything else, so that a standby answers; then the cluster is watched; then the lease is
waited for; then pods are scheduled. A scheduler that loses the lease stops at once and ends with
code 1; one that is told to stop gives the lease back and ends with code 0. A second signal ends it
on the spot.

With `--reload` and a plugin's file that has changed, all of it ends and begins anew in the same
process, as if it had been started again with the new file.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from random import SystemRandom
from typing import Any, Final
from uuid import uuid4

from podium import __version__
from podium.client import KubeClient, LimitedTransport, TokenBucket
from podium.client.connection import located_settings, transport_for
from podium.commands.processes.host_environment import LocalHost
from podium.commands.processes.kube_log import KubeLog
from podium.commands.processes.plugin_reloading import WatchedPluginFiles
from podium.commands.processes.startup import PreparedScheduler, with_plugins_loaded
from podium.commands.processes.steady_time import steady_wall
from podium.commands.processes.trace_export import exported_traces
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly, live_engine
from podium.live.exposition import rules_of
from podium.live.leader_election import LeaderElection, LeadershipLost, new_identity
from podium.live.leader_election_thread import (
    LeaderElectionThread,
    MonotonicClock,
    Relay,
    RelayedRequestMetrics,
)
from podium.live.management import MakePage, SchedulerParts, management_server
from podium.live.metered_transport import MeteredTransport, RequestMetrics, WriteMetrics
from podium.live.metrics import SchedulerMetrics
from podium.live.scheduling_log import SchedulingLog
from podium.live.serving import Reviewers
from podium.live.tasks import end_part, running_part
from podium.scheduler.config.flags.client_settings import ClientSettings, StartRefused
from podium.scheduler.config.flags.options import Options
from podium.scheduler.engine import Engine
from podium.scheduler.engine.garbage import seldom_collected

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOGGERS: Final = (
    "podium.live",
    "podium.client",
    "podium.addons",
)


async def run_scheduler(
    prepared: PreparedScheduler,
    options: Options,
    gates: FeatureGates,
    log: KubeLog,
    flags: Mapping[str, str],
    make_page: MakePage | None = None,
) -> None:
    """Until SIGTERM or SIGINT; `flags` are all flags as they would be written, `make_page` makes
    the page for browsers, if there is to be one. Raises StartRefused and LeadershipLost."""
    await _RunningScheduler(prepared, options, gates, log, flags, make_page).run()


class _RunningScheduler:
    def __init__(
        self,
        prepared: PreparedScheduler,
        options: Options,
        gates: FeatureGates,
        log: KubeLog,
        flags: Mapping[str, str],
        make_page: MakePage | None,
    ) -> None:
        self._make_page = make_page
        self._prepared = prepared
        self._options = options
        self._gates = gates
        self._log = log
        self._flags = flags
        self._host = socket.gethostname()
        self._wall = steady_wall()
        self._randomness = SystemRandom()
        self._stopping = asyncio.Event()
        self._renewed = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._stop)
        reloading = asyncio.ensure_future(self._reload())
        try:
            while not self._stopping.is_set():
                self._renewed.clear()
                async with AsyncExitStack() as stack:
                    for name in _LOGGERS:
                        stack.enter_context(self._log.taking_over(name))
                    await self._run(stack)
        finally:
            await end_part(reloading)
        self._log.info("Requested to terminate, exiting")

    async def _reload(self) -> None:
        """Have the scheduler begin anew whenever plugins have changed and can be used."""
        if not self._options.reload:
            return
        plugins = self._options.plugin
        files = WatchedPluginFiles(plugins)

        def load() -> PreparedScheduler:
            prepared = with_plugins_loaded(self._prepared, plugins)
            self._engine(prepared)
            return prepared

        def refuse(problem: str) -> None:
            self._log.error("Plugins cannot be loaded, those before stay in force", err=problem)

        while True:
            self._prepared = await files.wait_for_reload(load, refuse)
            self._log.info("Plugins have changed, starting anew", files=str(files))
            self._renewed.set()

    def _stop(self) -> None:
        if self._stopping.is_set():
            os._exit(1)
        self._stopping.set()

    async def _run(self, stack: AsyncExitStack) -> None:
        prepared = self._prepared
        engine = self._engine(prepared)
        lines = SchedulingLog(engine, self._log, self._randomness)
        self._log.on_verbosity(lines.set_verbosity)
        stack.enter_context(exported_traces(engine, os.environ, self._log))
        metrics = SchedulerMetrics(engine, rules_of(self._options.metrics, LocalHost()))
        self._requests = RequestMetrics(metrics.exposition)
        # A transport for each of them: neither the lease nor events wait behind bindings.
        relay = Relay()
        of_lease = self._build_metered_transport(
            prepared.client, RelayedRequestMetrics(self._requests, relay)
        )
        election = self._election(of_lease, metrics, relay)
        client = self._client(self._transport(stack, prepared.client))
        assembly = Assembly(
            engine,
            client,
            self._client(self._transport(stack, prepared.client)),
            host=self._host,
            randomness=self._randomness,
            leads=lambda: election is None or election.is_leader,
            metrics=WriteMetrics(metrics.exposition),
        )
        await self._serve(
            stack,
            SchedulerParts(
                engine,
                metrics,
                election,
                assembly.records,
                assembly.scheduler.synced.is_set,
                self._stopping.is_set,
                self._log.set_verbosity,
                client,
            ),
        )
        scheduler = await stack.enter_async_context(
            assembly.follow_cluster(begin=not self._delays(election))
        )

        async def schedule() -> None:
            scheduler.begin()
            await scheduler.ready()
            with seldom_collected():
                await scheduler.schedule()

        if election is None:
            await self._until_stopped(schedule())
            return
        thread = LeaderElectionThread(
            election, close=of_lease.close, abandon=lambda: os._exit(1), log=self._log
        )
        await self._until_stopped(thread.lead(schedule))

    def _engine(self, prepared: PreparedScheduler) -> Engine:
        deprecated = self._options.deprecated
        return live_engine(
            prepared.configuration,
            prepared.registry,
            wall=self._wall,
            randomness=self._randomness,
            gates=self._gates,
            client_settings=located_settings(
                prepared.client, prepared.configuration.client_connection.kubeconfig
            ),
            max_unschedulable_s=deprecated.pod_max_in_unschedulable_pods_duration.seconds,
            log=self._log,
        )

    async def _serve(self, stack: AsyncExitStack, inside: SchedulerParts) -> None:
        prepared = self._prepared
        if self._options.secure_serving.secure_port == 0:
            return
        reviewers = Reviewers(
            *(
                KubeClient(self._transport(stack, settings)) if settings is not None else None
                for settings in (prepared.authentication, prepared.authorization)
            )
        )
        page = self._make_page(inside) if self._make_page is not None else None
        server = management_server(
            self._options, self._flags, prepared.configuration, self._gates, inside, reviewers, page
        )
        await stack.enter_async_context(server)
        if page is not None:
            await stack.enter_async_context(running_part(page.follow()))
        self._log.info("Serving securely on", address=server.url)

    def _delays(self, election: LeaderElection | None) -> bool:
        """Whether the cluster is watched by the leader only."""
        return election is not None and self._prepared.configuration.delay_cache_until_active

    async def _until_stopped(self, work: Any) -> None:
        """Work until told to stop or to begin anew; what it ends with before that is raised."""
        working = asyncio.ensure_future(work)
        ends = [asyncio.ensure_future(each.wait()) for each in (self._stopping, self._renewed)]
        try:
            await asyncio.wait((working, *ends), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
        finally:
            for end in ends:
                end.cancel()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    # --- connections --------------------------------------------------------------------------

    def _transport(self, stack: AsyncExitStack, settings: ClientSettings) -> MeteredTransport:
        transport = self._build_metered_transport(settings, self._requests)
        stack.push_async_callback(transport.close)
        return transport

    def _build_metered_transport(
        self, settings: ClientSettings, metrics: RequestMetrics
    ) -> MeteredTransport:
        """A transport that whoever uses it has to close, in the loop that it is used in."""
        kubeconfig = self._prepared.configuration.client_connection.kubeconfig
        try:
            transport = transport_for(
                settings, user_agent=f"podium/{__version__}", kubeconfig=kubeconfig
            )
        except InputError as problem:
            raise StartRefused(str(problem)) from None
        return MeteredTransport(transport, metrics, settings.cluster.server)

    def _client(self, transport: MeteredTransport) -> KubeClient:
        """A client with limits of its own."""
        limits = self._prepared.configuration.client_connection
        bucket = TokenBucket(limits.qps, limits.burst)
        limited = LimitedTransport(transport, bucket, on_wait=transport.note_wait)
        return KubeClient(limited, field_manager="podium")

    def _election(
        self, transport: MeteredTransport, metrics: SchedulerMetrics, relay: Relay
    ) -> LeaderElection | None:
        """Its calls come from a thread."""
        configuration = self._prepared.configuration
        settings = configuration.leader_election
        if not settings.leader_elect:
            return None
        lease = settings.resource_name
        metrics.set_leading(lease, leading=False)
        return LeaderElection(
            self._client(transport),
            settings,
            new_identity(self._host, uuid4()),
            clock=MonotonicClock(),
            wall=self._wall,
            randomness=self._randomness,
            log=self._log,
            component=configuration.profiles[0].scheduler_name,
            on_leading=lambda: relay(partial(metrics.set_leading, lease, leading=True)),
            on_stopped_leading=lambda: relay(partial(metrics.set_leading, lease, leading=False)),
            on_slow_renewal=lambda: relay(metrics.renewed_slowly, lease),
        )


__all__ = ["LeadershipLost", "run_scheduler"]
