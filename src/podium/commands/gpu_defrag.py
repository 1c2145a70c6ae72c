"""`podium gpu defrag`: which pods to move so that whole cards become free, or waiting pods fit."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium import __version__
from podium.addons.gpu.dialects import DIALECTS
from podium.commands.answering import ON_A_TERMINAL, Answer, answers
from podium.commands.cluster_options import FILES_ONLY, ClusterOptions
from podium.commands.options import Filename, ValidationMode
from podium.commands.printing import print_line
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.kubernetes.kinds.pod import Pod


DialectName = Annotated[
    str | None,
    Parameter(
        name=["--dialect"],
        metavar="NAME",
        show_default=False,
        help=f"The dialect of the agents on the nodes: {', '.join(DIALECTS)}."
        " [default: what the nodes look like]",
    ),
]

SchedulerConfig = Annotated[
    str | None,
    Parameter(
        name=["--config"],
        metavar="FILE",
        show_default=False,
        help="The KubeSchedulerConfiguration of the scheduler that places the pods, with GPUShare."
        " [default: kube-scheduler's defaults and GPUShare]",
    ),
]


@answers("gpu defrag", ON_A_TERMINAL)
def defrag(
    *,
    filename: Filename = None,
    cluster: ClusterOptions = FILES_ONLY,
    dialect: DialectName = None,
    config: SchedulerConfig = None,
    free: Annotated[
        int | None,
        Parameter(
            name=["--free"],
            metavar="N",
            show_default=False,
            help="Free so many whole cards, beside helping pods that wait. [default: as many as the"
            " moves allow if no pod waits]",
        ),
    ] = None,
    max_moves: Annotated[
        int, Parameter(name=["--max-moves"], metavar="N", help="Move no more pods than this.")
    ] = 10,
    apply: Annotated[
        bool,
        Parameter(
            name=["--apply"],
            negative="",
            show_default=False,
            help="Evict the pods, one after the other. Without it nothing is written.",
        ),
    ] = False,
    pause: Annotated[
        str,
        Parameter(
            name=["--pause"],
            metavar="TIME",
            help="How long to wait after a pod is gone before the next one is evicted.",
        ),
    ] = "10s",
    validation: ValidationMode = "strict",
) -> Answer:
    """Propose moves of pods that make room on GPUs, and carry them out if asked to.

    Pods that wait for cards are helped first, with the fewest moves; then whole cards are freed,
    those with the fewest pods first. A pod is moved by evicting it: its controller makes another
    one, and the scheduler decides where that goes. So each step is carried out by a scheduler on an
    imagined cluster first, one eviction after the other: where that puts pods is what is shown, and
    steps that come to nothing there are left out.

    Pods stay that have no controller, belong to a DaemonSet, are critical or more important than
    the pod that is helped, or carry `podium.dev/gpu-moving: forbidden` or the autoscaler's
    `safe-to-evict: "false"`. Disruption budgets are respected, in the plan and by the server.

    **Examples**

    ```
    podium gpu defrag
    podium gpu defrag -f cluster.yaml --free 2 --config scheduler.yaml -o json
    podium gpu defrag --kubeconfig podium.kubeconfig --max-moves 3 --apply --pause 30s
    ```

    **Exit code** 0 if there is nothing to do or all of it was done, 1 if pods still wait or an
    eviction was refused, 2 if the input is wrong.
    """
    from podium.addons.gpu.packing.defragmentation import Defragmenter
    from podium.addons.gpu.packing.moves import MoveTable
    from podium.commands.gpu_defrag_scheduler import simulated_moves
    from podium.commands.gpu_defrag_view import DefragmentationView
    from podium.commands.gpu_reading import read_gpu_cluster

    if max_moves < 0 or (free is not None and free < 0):
        raise InputError("--free and --max-moves cannot be negative")
    pause_s = _read_pause(pause)
    found = read_gpu_cluster(filename or (), cluster, validation, dialect)
    if apply and not cluster.is_live(has_files=bool(filename)):
        raise InputError("--apply needs a cluster that runs", remedy="name it with --kubeconfig")
    if len(found.dialects) > 1:
        names = ", ".join(each.name for each in found.dialects)
        raise InputError(f"the nodes have several dialects: {names}", remedy="choose: --dialect")
    if not found.dialects:
        raise InputError("no node has GPUs that an agent has registered")
    (spoken,) = found.dialects
    with simulated_moves(config, found, spoken) as scheduler:
        table = MoveTable(
            spoken, found.nodes, found.pods, found.now, found.config_maps, scheduler.read_request
        )
        plan = Defragmenter(table, found.budgets, scheduler).plan(free, max_moves)
        notes = (*found.notes, *scheduler.notes)
    evict = partial(_evict, cluster, pause_s) if apply else None
    return DefragmentationView(plan, notes, evict)


def _read_pause(text: str) -> float:
    from podium.golang.durations import Duration, DurationError

    try:
        pause_s = Duration.parse(text).seconds
    except DurationError:
        pause_s = -1.0
    if pause_s < 0:
        raise InputError(f'--pause "{text}" is no time', remedy="write it as 10s or 1m30s")
    return pause_s


def _evict(cluster: ClusterOptions, pause_s: float, pods: list[Pod]) -> bool:
    """Whether all of them were evicted; each is told on standard error."""
    from podium.client import KubeClient, LoopClock
    from podium.client.connection import transport_for
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.pod_evictions import EvictionStopped, evict_in_turn
    from podium.offline.simulate.live_cluster import refusals_told

    sys.stdout.flush()  # the plan comes before what is told of it
    settings = cluster.find().settings
    stopped: list[str] = []

    def tell(text: str) -> None:
        print_line(f"podium: {text}", error=True)

    async def work() -> None:
        transport = transport_for(settings, user_agent=f"podium/{__version__}")
        try:
            await evict_in_turn(KubeClient(transport), pods, pause_s, LoopClock(), tell)
        except EvictionStopped as problem:
            stopped.append(str(problem))
        finally:
            await transport.close()

    with refusals_told(settings.cluster):
        run(work())
    for problem in stopped:
        tell(problem)
    return not stopped
