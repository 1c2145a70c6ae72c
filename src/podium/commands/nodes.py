"""`podium nodes`: simulated nodes and controllers for an API server that has none."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.commands.line_logging import start_logging
from podium.commands.node_options import (
    USUAL_NODES,
    Count,
    NodeOptions,
    Zones,
    require_usable_speed,
)
from podium.commands.options import progress_bar
from podium.commands.printing import print_line
from podium.commands.server_options import Context, Kubeconfig
from podium.simulated.controller_registry import ALL

if TYPE_CHECKING:
    from podium.simulated.cluster import SimulatedClusterOptions, StartProgress


def nodes(
    count: Count = None,
    /,
    *,
    like: NodeOptions = USUAL_NODES,
    zones: Zones = "",
    controllers: Annotated[
        str,
        Parameter(metavar="NAMES", help=f"all, none, or a list of: {', '.join(ALL)}."),
    ] = "all",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
    cleanup: Annotated[
        bool, Parameter(negative="", show_default=False, help="Delete the nodes when stopping.")
    ] = False,
    verbose: Annotated[
        bool,
        Parameter(name=("--verbose", "-v"), negative=(), show_default=False, help="Log more."),
    ] = False,
) -> int:
    """Simulate nodes, and the controllers of a cluster, until SIGTERM or Ctrl-C.

    Nodes are made from templates, send heartbeats, and let the pods that are bound to them start,
    run and end; nothing is really run. Existing nodes that carry the label
    `podium.dev/simulated=true` are brought to life as well. Together with `podium apiserver` and a
    scheduler this is a whole cluster.

    In a cluster that has a kube-controller-manager use `--controllers none`.

    **Examples**

    ```
    podium nodes 10 --kubeconfig podium.kubeconfig
    podium nodes 100 --cpu 64 --memory 256Gi --zones a,b,c --speed 10
    podium nodes 5 --gpus 8xA100 --kubeconfig podium.kubeconfig
    podium nodes 5 --template gpu-node.yaml --controllers none --cleanup
    kubectl annotate node node-3 podium.dev/failure=unreachable
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the server cannot be reached or the input is
    wrong.
    """
    import logging

    from podium.client.connection import find_settings
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.run_simulated_nodes import run_simulated_nodes
    from podium.simulated.controller_registry import choose_controllers

    start_logging(logging.INFO if verbose else logging.WARNING)
    speed = require_usable_speed(like.speed)
    options = like.read(
        count, zones, choose_controllers(part.strip() for part in controllers.split(","))
    )
    settings = find_settings(kubeconfig, context)
    with ExitStack() as bar_shown:
        bar = bar_shown.enter_context(progress_bar("starting", max(1, len(options.nodes))))

        def show_progress(step: StartProgress) -> None:
            (task,) = bar.task_ids
            bar.update(task, description=step.what, completed=step.done, total=step.total)

        def announce() -> None:
            bar_shown.close()
            print_line(f"podium: {_summary(options, speed)} at {settings.cluster.server}")

        run(
            run_simulated_nodes(
                settings,
                options,
                speed=speed,
                cleanup=cleanup,
                on_progress=show_progress,
                on_started=announce,
            )
        )
    print_line("podium: stopped", error=True)
    return OK


def _summary(options: SimulatedClusterOptions, speed: float) -> str:
    parts = [f"{len(options.nodes)} nodes"]
    if options.controllers:
        parts.append(f"{len(options.controllers)} controllers")
    how = f", {speed:g} times as fast" if speed != 1 else ""
    return " and ".join(parts) + how
