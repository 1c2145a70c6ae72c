"""`podium why`: what would have to change so that this pod gets a node?"""

from typing import Annotated

from cyclopts import Parameter

from podium.commands.answering import ON_A_TERMINAL, Answer, answers
from podium.commands.exit_codes import NO
from podium.commands.printing import print_line
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions


@answers("why", ON_A_TERMINAL)
def why(
    pod: Annotated[
        str | None,
        Parameter(
            help="The pod: its name or how that begins, namespace/name, or deployment/name, "
            "sts/name and so on for a pod of a workload. Left out: all that wait, as podium "
            "pending."
        ),
    ] = None,
    /,
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    alone: Annotated[
        bool,
        Parameter(
            name=["--alone"],
            negative="",
            show_default=False,
            help="Leave the other pending pods out of it.",
        ),
    ] = False,
    top: Annotated[
        int, Parameter(name=["--top"], metavar="N", help="How many proposals to show.")
    ] = 5,
) -> Answer | int:
    """Tell what would have to change so that a pending pod gets a node.

    The cluster is that of kubectl's current context, of which a snapshot is read and nothing is
    ever written, or comes from files as with `podium simulate`. All pending pods are placed first,
    as it does; then changes are tried for the pod that is left: of the pod, of nodes and other
    objects, of pods that are in its way, one at a time and where that is not enough two or three
    together. A change is proposed only if what its commands do was tried on a copy of the cluster
    and gave the pod a node: for a pod of a Deployment or another workload the roll-out of the
    changed template is gone through, with all its pods, and the answer says how many of them have a
    node before and after. With `--alone` the pod is the only one that waits; one that runs already
    is decided anew, as if its place were free.

    Proposals come with the commands that carry them out, those first that disturb the least; what
    they delete, restart or evict stands beside them. They name the cluster that was asked about.
    `-o wide` tells more about each, `-o json` and `-o yaml` hold all of them, with the changes as
    data. Without a pod the answer is that of `podium pending`: what waits, by cause, and what to do
    first about each.

    **Examples**

    ```
    podium why web-0 -f cluster.yaml -f pods.yaml
    podium why deployment/web -n shop --kubeconfig ~/.kube/config
    podium why team-a/trainer -f cluster.json --alone --top 10
    podium why web-0 -f cluster.yaml -f pods.yaml -o json | jq -r '.proposals[0].commands[]'
    podium why -f cluster.json
    ```

    **Exit code** 0 if the pod gets a node or a change would give it one, 1 if nothing that was
    tried helps, 2 if the input is wrong, 70 if Podium has a bug.
    """
    if pod is None:
        from podium.commands.pending import list_pending

        return list_pending(options.files(paths), options, top)

    from podium.commands.preparation import (
        WORKLOADS,
        only,
        prepare_simulation,
        workload_kinds,
    )
    from podium.commands.simulate import tell_crashes_of
    from podium.commands.why_view import ProposalsView
    from podium.offline.simulate.missing_pods import PodsRefusedError
    from podium.offline.simulate.pod_references import choose_result, names_workload
    from podium.offline.simulate.report import answer_without_search
    from podium.offline.simulate.scenario import admission_of
    from podium.scheduler.explain.proposals.search import find_proposals
    from podium.scheduler.explain.trial import Trial

    prepared = prepare_simulation(options.files(paths), options, workload_kinds(pod, WORKLOADS))
    scenario = prepared.scenario
    try:
        found = prepared.require_pod(pod)
    except PodsRefusedError as problem:
        print_line(f"podium: {problem}", error=True)
        return NO
    key = f"{found.metadata.namespace}/{found.metadata.name}"
    runs_on = found.spec.node_name
    if runs_on or alone:
        scenario = only(scenario, found)
    with prepared.open_run(scenario=scenario) as (report, engine, ask):
        result = choose_result(report, found, of_workload=names_workload(pod))
        key = result.key
        has_crashed = tell_crashes_of(report)
        answer = answer_without_search(result)
        if answer is None:
            trial = Trial(engine, engine.state.pods.get(key, result.pod), ask)
            controllers = list(scenario.workloads)
            if prepared.live is not None:
                from podium.commands.cluster_reading import read_controller

                settings = options.cluster.find().settings
                controllers += read_controller(settings, trial, controllers)
            server = admission_of(prepared.scenario, prepared.gates)
            kubectl = options.cluster.kubectl
            answer = find_proposals(trial, controllers, kubectl, server)
    return ProposalsView(
        answer,
        report,
        notes=report.notes,
        notes_on_terminal=prepared.notes,
        has_crashed=has_crashed,
        key=key,
        runs_on=runs_on,
        top=max(top, 1),
    )
