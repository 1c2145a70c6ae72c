"""`podium up`: a whole cluster, scheduler included, with one command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.api_server_options import (
    DataRecover,
    RuntimeConfigFlag,
    read_runtime_config,
    require_data,
)
from podium.commands.exit_codes import OK
from podium.commands.line_logging import silence_web_server, start_logging
from podium.commands.node_options import (
    Count,
    Cpu,
    GpuDialect,
    Gpus,
    Memory,
    MostPods,
    Speed,
    Stages,
    Template,
    read_nodes,
    read_stage_file,
    require_usable_speed,
)
from podium.commands.options import (
    Config,
    Gates,
    PluginFiles,
    PluginTimeout,
    Reload,
    Strict,
    limit_plugins,
    read_configuration,
    warn_of_unworkable,
)
from podium.commands.printing import print_line, print_lines
from podium.commands.recorded_options import SCHEDULER_EXTENSION
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.processes.cluster_scheduler import PluginReload
    from podium.commands.processes.whole_cluster import RunningCluster
    from podium.commands.tables import Screen
    from podium.scheduler.engine import Engine
    from podium.user_code.plugins import Equipped
    from podium.web.page_server import PageServer
    from podium.web.play_decisions import RecentDecisions

_KUBECONFIG: Final = "podium.kubeconfig"
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
    config: Config = None,
    plugin: PluginFiles = None,
    plugin_timeout: PluginTimeout = "5s",
    reload: Reload = False,
    feature_gates: Gates = None,
    runtime_config: RuntimeConfigFlag = None,
    strict: Strict = False,
    template: Template = None,
    cpu: Cpu = "",
    memory: Memory = "",
    pods: MostPods = None,
    gpus: Gpus = None,
    gpu_dialect: GpuDialect = None,
    zones: Annotated[
        str | None,
        Parameter(
            metavar="A,B,C",
            show_default=False,
            help="Zones to give out to the nodes in turn. [default: a,b,c, or what templates say]",
        ),
    ] = None,
    stages: Stages = None,
    speed: Speed = 1.0,
    host: Annotated[str, Parameter(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port to listen on; 0 for any free one.")] = 6443,
    scheduler_port: Annotated[
        int,
        Parameter(
            show_default=False,
            help="The port on which the scheduler tells of itself: metrics, health, decisions."
            " [default: any free one, which is in the kubeconfig]",
        ),
    ] = 0,
    page_port: Annotated[
        int,
        Parameter(
            show_default=False,
            help="The loopback port of the page that shows the cluster in a browser."
            " [default: any free one, in the link that is printed]",
        ),
    ] = 0,
    page: Annotated[
        bool,
        Parameter(
            name=["--page"],
            negative="--no-page",
            show_default=False,
            help="Serve the page. [default: yes]",
        ),
    ] = True,
    play: Annotated[
        bool,
        Parameter(
            name=["--play"],
            negative="--no-play",
            show_default=False,
            help="Let the page change the cluster: its view Play. Without it the page can only be"
            " read. [default: yes]",
        ),
    ] = True,
    data: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            show_default=False,
            help="Keep objects, certificates and token here. [default: in memory only]",
        ),
    ] = None,
    data_recover: DataRecover = False,
    kubeconfig_out: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            show_default=False,
            help=f"Where to write the kubeconfig. [default: {_KUBECONFIG}, or kubeconfig in DIR]",
        ),
    ] = None,
    watch: Annotated[
        bool,
        Parameter(
            name=["--watch", "-w"],
            negative="",
            show_default=False,
            help="On a terminal, draw the nodes as they fill up.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        Parameter(
            name=["--quiet", "-q"],
            negative="",
            show_default=False,
            help="Print no decisions and no status.",
        ),
    ] = False,
    verbosity: Annotated[
        int | None,
        Parameter(
            name=["--verbosity", "-v"],
            metavar="N",
            show_default=False,
            help="Write the scheduler's log to standard error, at this verbosity, as `podium run`"
            " does. [default: no log]",
        ),
    ] = None,
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

    from podium.apiserver.serving.kubeconfig import write_kubeconfig
    from podium.apiserver.serving.server import ApiServer, ServerOptions
    from podium.client.connection import UP_EXTENSION, describe_process
    from podium.commands.decision_lines import DecisionLines
    from podium.commands.feature_gate_flags import read_gates
    from podium.commands.processes.cluster_scheduler import SchedulerPlan
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.kube_log import log_at
    from podium.commands.processes.steady_time import steady_wall
    from podium.commands.processes.whole_cluster import ClusterPlan, run_cluster
    from podium.commands.tables import Screen
    from podium.commands.tables import count as counted
    from podium.live.decision_notices import DecisionNotices
    from podium.offline.simulate.inputs import documents_in
    from podium.scheduler.engine.garbage import seldom_collected
    from podium.scheduler.plugins import in_tree_registry
    from podium.simulated.cluster import SimulatedClusterOptions
    from podium.simulated.names import ALL
    from podium.user_code.plugins import equip
    from podium.web.page_server import PageServer
    from podium.web.play_decisions import RecentDecisions

    start_logging(logging.WARNING)
    silence_web_server()
    gates = read_gates(feature_gates, strict=strict)
    served = read_runtime_config(runtime_config, gates)
    if zones is None:
        zones = "" if template else _ZONES
    screen = Screen()
    configuration = read_configuration(config, gates, strict=strict)

    limit_plugins(plugin_timeout)

    def equipped() -> Equipped:
        return equip(configuration, in_tree_registry(), plugin or ())

    at_start = equipped()
    warn_of_unworkable(at_start, config or "")
    decisions = RecentDecisions() if page and play else None

    told = () if decisions is None else (decisions.note,)
    if quiet:
        observers = (DecisionNotices(steady_wall(), *told),) if told else ()
    else:
        observers = (DecisionLines(screen.console, steady_wall(), *told),)
    scheduler_plan = SchedulerPlan(
        at_start,
        gates,
        scheduler_port,
        lambda _: observers,
        None if verbosity is None else log_at(verbosity),
        _reloading(plugin, equipped, screen) if reload else None,
    )
    plan = ClusterPlan(
        SimulatedClusterOptions(
            nodes=read_nodes(count, template, cpu, memory, pods, zones, gpus, gpu_dialect),
            stages=read_stage_file(stages),
            controllers=ALL,
        ),
        scheduler_plan,
        require_usable_speed(speed),
        documents_in(apply or (), None if strict else _warn),
        _warn,
        lambda up: _show(
            up, None if quiet else screen, page_server, decisions, target, nodes=watch
        ),
    )
    target = kubeconfig_out or (data / "kubeconfig" if data else Path(_KUBECONFIG))
    where = shlex.quote(str(target))
    require_data(data, recovers=data_recover)
    server = ApiServer(
        ServerOptions(
            host=host,
            port=port,
            data=data,
            recovers_data=data_recover,
            taint_new_nodes=True,
            serves_metrics=True,
            gates=gates,
            runtime_config=served,
        )
    )
    if server.recovered:
        print_line(f"podium: warning: {server.recovered}", error=True)
    authority = server.certificates.authority if server.certificates else None
    process = {UP_EXTENSION: describe_process(sys.argv[1:])}
    try:
        write_kubeconfig(target, server.url, server.token, authority, process)
        page_server = PageServer(page_port) if page else None
    except InputError:
        server.close()
        raise

    def announce(cluster: RunningCluster) -> None:
        told = {**process, SCHEDULER_EXTENSION: {"server": cluster.scheduler.url}}
        write_kubeconfig(target, server.url, server.token, authority, told)
        kept = f"objects in {data}" if data else "objects in memory"
        size = counted(len(cluster.nodes), "node")
        if page_server is not None:
            print_line(f"podium: see it at  {page_server.link}")
        print_lines(f"podium: {note}" for note in scheduler_plan.equipped.notes)
        print_line(f"podium: a cluster of {size} at {server.url}, {kept}")
        print_line(f"podium: look at it with  KUBECONFIG={where} kubectl get pods -o wide")
        print_line(
            f"podium: ask its scheduler with  KUBECONFIG={where} podium explain POD --recorded"
        )
        print_line("podium: Ctrl-C stops it")

    with seldom_collected():
        try:
            run(run_cluster(server, plan, announce))
        finally:
            if page_server is not None:
                page_server.close()
    print_line("podium: stopped", error=True)
    return OK


async def _show(
    up: RunningCluster,
    screen: Screen | None,
    page_server: PageServer | None,
    decisions: RecentDecisions | None,
    kubeconfig: Path,
    *,
    nodes: bool,
) -> None:
    """On the terminal and in browsers, for as long as the cluster is up."""
    import asyncio

    from podium.commands.cluster_screen import ClusterScreen
    from podium.commands.processes.other_loop import run_in
    from podium.net.serving.loop_calls import LoopCalls
    from podium.scheduler.explain.proposals.shell import Kubectl
    from podium.web.live_page import LivePage
    from podium.web.play import Play
    from podium.web.relayed_page import RelayedPage

    def engine() -> Engine:
        return up.scheduler.engine

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
            group.create_task(run_in(up.serving_loop, lambda: page_server.serve(relayed)))
        await asyncio.Event().wait()


def _warn(problem: InputError) -> None:
    print_line(f"podium: warning: {problem}", error=True)


def _reloading(
    plugins: Sequence[str] | None, equipped: Callable[[], Equipped], screen: Screen
) -> PluginReload:
    from podium.commands.processes.cluster_scheduler import PluginReload
    from podium.commands.processes.plugin_reloading import WatchedPluginFiles

    if not plugins:
        remedy = "name the file of a plugin: --plugin mine.py --reload"
        raise InputError("--reload has nothing to look at", remedy=remedy)
    tell = screen.print
    return PluginReload(WatchedPluginFiles(plugins), equipped, lambda text: tell(f"podium: {text}"))
