"""`podium what-if`: what would a change of the cluster do?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import AS_TABLE, Answer, AnswerOptions, answers
from podium.commands.change_options import NAMES, Changes, read_changes
from podium.commands.options import progress_bar
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.golang.errors import InputError

if TYPE_CHECKING:  # the page is loaded for a report only
    from podium.offline.simulate import Scenario, Simulation
    from podium.offline.what_if.failures import Failure
    from podium.web.cluster_snapshot import ClusterSnapshot


@answers("what-if")
def what_if(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    changes: Changes = None,
    each_node: Annotated[
        bool,
        Parameter(
            name=["--each-node"],
            negative="",
            show_default=False,
            help="Let every node fail by itself, after the changes.",
        ),
    ] = False,
    each_zone: Annotated[
        bool,
        Parameter(
            name=["--each-zone"],
            negative="",
            show_default=False,
            help="Let every zone fail by itself, after the changes.",
        ),
    ] = False,
    printed: AnswerOptions = AS_TABLE,
) -> Answer:
    """Tell what a change of the cluster would do, without doing it.

    The cluster comes from files or is one that runs, as with `podium simulate`; its pending pods
    are placed first. Then the changes are made one after the other, as they are written. Pods that
    lose their node and have a controller are made again and scheduled; those that get none are told
    with the cause. A drain evicts as PodDisruptionBudgets allow, waits until the pods run elsewhere
    and goes on; what may not be evicted stays and is told.

    `--each-node` and `--each-zone` let every node or zone fail by itself and list the failures that
    the cluster does not survive: some pod gets no node again, or has no controller to bring it
    back.

    **Examples**

    ```
    podium what-if -f cluster.json --drain worker-3
    podium what-if -f cluster.json --cordon pool=old --scale deploy/web=50
    podium what-if -f cluster.json --add new-nodes.yaml --remove pool=old
    podium what-if -f cluster.json --zone-outage eu-1a -o json | jq '.stranded'
    podium what-if --kubeconfig ~/.kube/config --each-node
    podium what-if -f cluster.json --drain worker-3 --each-node --html report.html
    ```

    **Exit code** 0 if every pod has a place in the end and every one that was to go has gone, 1 if
    not, 2 if the input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.preparation import prepare_simulation
    from podium.commands.simulate import tell_crashes_of
    from podium.commands.what_if_view import WhatIfView
    from podium.offline.what_if.answer import WhatIfAnswer
    from podium.offline.what_if.changed_cluster import ChangedCluster
    from podium.offline.what_if.failures import fail_each_node, fail_each_zone
    from podium.offline.what_if.node_selection import zones_of
    from podium.scheduler.cluster.load import load_of

    if not changes and not each_node and not each_zone:
        raise InputError("nothing is to change", remedy=", ".join((*NAMES, "--each-node")))
    prepared = prepare_simulation(options.files(paths), options)
    wanted = read_changes(changes or (), options.validation, gates=prepared.gates)
    snapshots: list[ClusterSnapshot] = []
    with prepared.open_simulation() as (report, simulation, _):
        has_crashed = tell_crashes_of(report)
        scenario = prepared.scenario
        before = load_of(simulation.engine.cluster)
        if printed.html is not None:
            snapshots.append(_snapshot(simulation))
        changed = ChangedCluster(simulation, scenario)
        for change in wanted:
            changed.apply(change)
        answer = WhatIfAnswer(changed.consequences(), before, load_of(simulation.engine.cluster))
        if printed.html is not None:
            snapshots.append(_snapshot(simulation))
        if each_node:
            size = simulation.engine.cluster.nodes.present_count
            answer.nodes = _each(fail_each_node, simulation, scenario, "failing nodes", size)
        if each_zone:
            size = len(zones_of(simulation.engine.cluster))
            answer.zones = _each(fail_each_zone, simulation, scenario, "failing zones", size)
    return WhatIfView(answer, report, report.notes, has_crashed, snapshots)


def _snapshot(simulation: Simulation) -> ClusterSnapshot:
    from podium.web.cluster_snapshot import ClusterSnapshot

    return ClusterSnapshot(simulation.engine)


def _each(
    fail: Callable[[Simulation, Scenario, Callable[[], None]], list[Failure]],
    simulation: Simulation,
    scenario: Scenario,
    what: str,
    size: int,
) -> list[Failure]:
    with progress_bar(what, size) as progress:
        return fail(simulation, scenario, lambda: progress.advance(progress.task_ids[0]))
