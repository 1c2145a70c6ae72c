"""`podium up`: a whole cluster, scheduler included, with one command."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from podium.commands.api_server_options import read_runtime_config, require_data
from podium.commands.exit_codes import OK
from podium.commands.line_logging import silence_web_server, start_logging
from podium.commands.node_options import USUAL_NODES, Count, NodeOptions, require_usable_speed
from podium.commands.printing import print_line, print_lines
from podium.commands.recorded_options import SCHEDULER_EXTENSION
from podium.commands.up_options import (
    AS_CONFIGURED,
    ON_LOOPBACK,
    TELLING,
    WITH_PAGE,
    PageOptions,
    SchedulingOptions,
    ServingOptions,
    TerminalOptions,
)
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.apiserver.serving.server import ApiServer
    from podium.commands.processes.cluster_scheduler import SchedulerPlan
    from podium.commands.processes.whole_cluster import RunningCluster
    from podium.commands.tables import Screen
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.kubernetes.resources.table import RuntimeConfig
    from podium.scheduler.engine import Engine
    from podium.web.page_server import PageServer
    from podium.web.play_decisions import RecentDecisions
    from podium.web.relayed_page import RelayedPage

_ZONES: Final = "a,b,c"


def up(
    count: Count = None,
    /,
    *,
    apply: Annotated[
        list[str] | None,
        Parameter(
            name=["--apply", "-f"],
            negative="",
            allow_leading_hyphen=True,
            metavar="FILE",
            help="Manifests to apply once the cluster is up: files, directories, or - for standard"
            " input. May be repeated.",
        ),
    ] = None,
    scheduling: SchedulingOptions = AS_CONFIGURED,
    nodes: NodeOptions = USUAL_NODES,
    zones: Annotated[
        str | None,
        Parameter(
            metavar="A,B,C",
            show_default=False,
            help="Zones to give out to the nodes in turn. [default: a,b,c, or what templates say]",
        ),
    ] = None,
    serving: ServingOptions = ON_LOOPBACK,
    page: PageOptions = WITH_PAGE,
    terminal: TerminalOptions = TELLING,
) -> int:
    """Run a whole cluster in this process: API server, nodes, controllers and the scheduler.

    Nothing else has to be installed, and nothing is really run: nodes are simulated and pods are
    status updates. The API is Kubernetes', so kubectl and client libraries work with it. Every
    decision of the scheduler is printed: where a pod goes and why there, for whom it waits at
    Permit, or why it cannot go anywhere; below that, how many nodes, pods and pending pods there
    are.

    The first line is a link to a page that shows the cluster, its queue and why each pod is where
    it is, and where it can be changed step by step; it is served to this machine only, and the link
    is its key. The server listens on
    loopback with a certificate and a token of its own; both are in the kubeconfig that it writes.

    **Examples**

    ```
    podium up
    podium up 100 --cpu 64 --memory 256Gi --speed 10 --watch
    podium up --apply examples/first-steps.yaml --config scheduler.yaml
    podium up 5 --gpus 2:8xA100-40GB --gpus 3:4xT4 --gpu-dialect vgpu-manager
    podium up 5 --template gpu-node.yaml --plugin mine.py --data ./cluster
    podium up --plugin mine.py --reload
    KUBECONFIG=podium.kubeconfig kubectl get pods -o wide --watch
    ```

    Objects of kinds that the server does not know are warned of and left out; definitions of
    custom resources are applied before everything else.

    **Exit code** 0 after SIGTERM or Ctrl-C, 2 if the input is wrong or the port is taken.
    """
    import logging

    from podium.commands.feature_gate_flags import read_gates
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.whole_cluster import ClusterPlan, run_cluster
    from podium.commands.tables import Screen
    from podium.offline.simulate.inputs import documents_in
    from podium.scheduler.engine.garbage import seldom_collected
    from podium.simulated.controller_registry import ALL
    from podium.web.play_decisions import RecentDecisions

    start_logging(logging.WARNING)
    silence_web_server()
    gates = read_gates(scheduling.feature_gates, strict=scheduling.strict)
    served = read_runtime_config(serving.runtime_config, gates)
    screen = Screen()
    decisions = RecentDecisions() if page.page and page.play else None
    scheduler_plan = _plan_scheduler(scheduling, gates, screen, decisions, quiet=terminal.quiet)
    if zones is None:
        zones = "" if nodes.template else _ZONES
    plan = ClusterPlan(
        nodes.read(count, zones, ALL),
        scheduler_plan,
        require_usable_speed(nodes.speed),
        documents_in(apply or (), None if scheduling.strict else _warn),
        _warn,
    )
    opened = _open_ports(serving, page, gates, served)
    shown = None if terminal.quiet else screen
    plan = replace(
        plan, beside=lambda up: _show(up, shown, opened, decisions, nodes=terminal.watch)
    )
    with seldom_collected():
        try:
            run(run_cluster(opened.server, plan, lambda up: _announce(up, opened, scheduler_plan)))
        finally:
            if opened.page is not None:
                opened.page.close()
    print_line("podium: stopped", error=True)
    return OK


def _plan_scheduler(
    scheduling: SchedulingOptions,
    gates: FeatureGates,
    screen: Screen,
    decisions: RecentDecisions | None,
    *,
    quiet: bool,
) -> SchedulerPlan:
    """Who decides, and who hears of the decisions. Raises InputError."""
    from podium.commands.decision_lines import DecisionLines
    from podium.commands.processes.cluster_scheduler import SchedulerPlan
    from podium.commands.processes.kube_log import log_at
    from podium.commands.processes.steady_time import steady_wall
    from podium.live.decision_notices import DecisionNotices

    equipped = scheduling.read_equipped(gates)
    at_start = equipped()
    scheduling.warn_of_unworkable(at_start)
    told = () if decisions is None else (decisions.note,)
    if quiet:
        observers = (DecisionNotices(steady_wall(), *told),) if told else ()
    else:
        observers = (DecisionLines(screen.console, steady_wall(), *told),)
    return SchedulerPlan(
        at_start,
        gates,
        scheduling.scheduler_port,
        lambda _: observers,
        None if scheduling.verbosity is None else log_at(scheduling.verbosity),
        scheduling.watch_plugins(equipped, lambda text: screen.print(f"podium: {text}")),
    )


@dataclass(frozen=True, slots=True)
class _OpenedPorts:
    """What listens before the cluster is up, and the kubeconfig that says where; `process` is what
    that says of this process."""

    server: ApiServer
    page: PageServer | None
    kubeconfig: Path
    data: Path | None
    process: dict[str, Any]

    def write_kubeconfig(self, **more: Any) -> None:
        """Raises InputError."""
        from podium.apiserver.serving.kubeconfig import write_kubeconfig

        server = self.server
        authority = server.certificates.authority if server.certificates else None
        told = {**self.process, **more}
        write_kubeconfig(self.kubeconfig, server.url, server.token, authority, told)


def _open_ports(
    serving: ServingOptions, page: PageOptions, gates: FeatureGates, served: RuntimeConfig
) -> _OpenedPorts:
    """Raises InputError."""
    from podium.apiserver.serving.server import ApiServer, ServerOptions
    from podium.client.connection import UP_EXTENSION, describe_process
    from podium.web.page_server import PageServer

    require_data(serving.data, recovers=serving.data_recover)
    server = ApiServer(
        ServerOptions(
            host=serving.host,
            port=serving.port,
            data=serving.data,
            recovers_data=serving.data_recover,
            taint_new_nodes=True,
            serves_metrics=True,
            gates=gates,
            runtime_config=served,
        )
    )
    if server.recovered:
        print_line(f"podium: warning: {server.recovered}", error=True)
    process = {UP_EXTENSION: describe_process(sys.argv[1:])}
    opened = _OpenedPorts(server, None, serving.kubeconfig, serving.data, process)
    try:
        opened.write_kubeconfig()
        return replace(opened, page=PageServer(page.page_port) if page.page else None)
    except InputError:
        server.close()
        raise


def _announce(cluster: RunningCluster, opened: _OpenedPorts, plan: SchedulerPlan) -> None:
    """The cluster is up: where it is, and how to ask it."""
    from podium.commands.tables import count as counted

    opened.write_kubeconfig(**{SCHEDULER_EXTENSION: {"server": cluster.scheduler.url}})
    kept = f"objects in {opened.data}" if opened.data else "objects in memory"
    size = counted(len(cluster.nodes), "node")
    where = shlex.quote(str(opened.kubeconfig))
    if opened.page is not None:
        print_line(f"podium: see it at  {opened.page.link}")
    print_lines(f"podium: {note}" for note in plan.equipped.notes)
    print_line(f"podium: a cluster of {size} at {opened.server.url}, {kept}")
    print_line(f"podium: look at it with  KUBECONFIG={where} kubectl get pods -o wide")
    print_line(f"podium: ask its scheduler with  KUBECONFIG={where} podium explain POD --recorded")
    print_line("podium: Ctrl-C stops it")


async def _show(
    up: RunningCluster,
    screen: Screen | None,
    opened: _OpenedPorts,
    decisions: RecentDecisions | None,
    *,
    nodes: bool,
) -> None:
    """On the terminal and in browsers, for as long as the cluster is up."""
    import asyncio

    from podium.commands.cluster_screen import ClusterScreen
    from podium.commands.processes.other_loop import LoopEnded, run_in
    from podium.net.serving.loop_calls import LoopCalls
    from podium.scheduler.explain.proposals.shell import Kubectl
    from podium.web.live_page import LivePage
    from podium.web.play import Play
    from podium.web.relayed_page import RelayedPage

    page_server, kubeconfig = opened.page, opened.kubeconfig

    def engine() -> Engine:
        return up.scheduler.engine

    async def serve_page(page_server: PageServer, page: RelayedPage) -> None:
        # What ended the server says why; the page goes with it.
        with suppress(LoopEnded):
            await run_in(up.serving_loop, lambda: page_server.serve(page))

    async with asyncio.TaskGroup() as group:
        if screen is not None:
            shown = ClusterScreen(screen, engine, nodes=nodes)
            group.create_task(shown.show())
        if page_server is not None:
            page = LivePage(
                lambda: up.scheduler.parts,
                terminal=f"KUBECONFIG={shlex.quote(str(kubeconfig))}",
                kubectl=Kubectl(str(kubeconfig.absolute())),
                url=lambda: up.scheduler.url,
                play=Play(engine, up.client, decisions) if decisions is not None else None,
            )
            relayed = RelayedPage(page, LoopCalls(asyncio.get_running_loop()))
            group.create_task(page.follow())
            group.create_task(serve_page(page_server, relayed))
        await asyncio.Event().wait()


def _warn(problem: InputError) -> None:
    print_line(f"podium: warning: {problem}", error=True)
