"""`podium pending`: what waits in a cluster, why, and what to do first?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import Answer, answers
from podium.commands.same_command import input_text
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions

if TYPE_CHECKING:
    from podium.commands.pending_view import PendingView
    from podium.offline.simulate.pending_pods import PendingWorkload

MAX_SEARCHES = 10


@answers("pending")
def pending(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    top: Annotated[
        int,
        Parameter(name=["--top"], metavar="N", help="For how many causes a change is looked for."),
    ] = MAX_SEARCHES,
) -> Answer:
    """Tell what waits in a cluster, by cause and workload, and what to do first.

    The cluster is the one that kubectl speaks to, of which a snapshot is read and nothing is ever
    written, or comes from files as with `podium simulate`. Pods that get a node as things are count
    as fitting; the others are grouped by what keeps them from one, and under each cause stand the
    workloads that they belong to. For the causes with the most pods, the change that disturbs least
    is looked for as `podium why` does: it is carried out on a copy of the cluster and shown with
    its commands if it gives more pods of the workload a node.

    Pods that a scheduling gate holds back or that ask for another scheduler are listed as well, and
    so are workloads whose pods the API server does not create, for want of quota for instance.

    **Examples**

    ```
    podium pending --kubeconfig ~/.kube/config
    podium pending -f cluster.json --all
    podium pending -f cluster.json -o json | jq -r '.causes[] | "\\(.podCount) \\(.sentence)"'
    podium pending -f cluster.json --html pending.html
    podium pending --kubeconfig ~/.kube/config > /dev/null || page-somebody
    ```

    **Exit code** 0 if every pod gets a node, 1 if some do not or are not created, 2 if the input is
    wrong, 70 if Podium has a bug. Pods with a scheduling gate, for another scheduler or on their
    way out do not count.
    """
    return list_pending(options.files(paths), options, top)


def list_pending(files: Sequence[str], options: SimulationOptions, top: int) -> PendingView:
    """What `podium pending` prints, and `podium why` of no pod. Raises InputError."""
    from podium.commands.pending_view import PendingView
    from podium.commands.preparation import WORKLOADS, prepare_simulation
    from podium.commands.simulate import tell_crashes_of
    from podium.offline.simulate.missing_pods import list_missing
    from podium.offline.simulate.pending_pods import PendingSearch, describe_pending
    from podium.offline.simulate.report import PodResult
    from podium.offline.simulate.scenario import admission_of
    from podium.scheduler.explain.proposals.search import ProposalAnswer, find_proposals
    from podium.scheduler.explain.trial import Trial

    prepared = prepare_simulation(files, options, WORKLOADS)
    scenario = prepared.scenario
    with prepared.open_run() as (report, engine, ask):
        server = admission_of(scenario, prepared.gates)

        def propose(result: PodResult) -> ProposalAnswer:
            trial = Trial(engine, engine.state.pods.get(result.key, result.pod), ask)
            controllers = list(scenario.workloads)
            if prepared.live is not None:
                from podium.commands.cluster_reading import read_controller

                settings = options.cluster.find().settings
                controllers += read_controller(settings, trial, controllers)
            kubectl = options.cluster.kubectl
            return find_proposals(trial, controllers, kubectl, server, first_only=True)

        def command(workload: PendingWorkload) -> str:
            where = "" if options.cluster.namespace else f"-n {shlex.quote(workload.namespace)}"
            words = ("podium why", workload.reference, where, input_text(files, options))
            return " ".join(filter(None, words))

        missing = tuple(list_missing(scenario, prepared.gates))
        search = PendingSearch(propose, max(top, 0), missing, command)
        found = describe_pending(report, engine.cluster.catalog, search)
    return PendingView(
        found,
        report,
        notes=report.notes,
        notes_on_terminal=prepared.notes,
        has_crashed=tell_crashes_of(report),
    )
