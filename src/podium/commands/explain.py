"""`podium explain`: why did this pod go there, or nowhere?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import ON_A_TERMINAL, Answer, answers
from podium.commands.exit_codes import NO
from podium.commands.options import PodReference
from podium.commands.printing import print_line
from podium.commands.recorded_options import DECIDE_ANEW, RecordedOptions
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.golang.errors import InputError, closest, did_you_mean

if TYPE_CHECKING:
    from podium.offline.simulate import Scenario


@answers("explain", ON_A_TERMINAL)
def explain(
    pod: PodReference,
    /,
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    recorded: RecordedOptions = DECIDE_ANEW,
    alone: Annotated[
        bool,
        Parameter(
            name=["--alone"],
            negative="",
            show_default=False,
            help="Leave the other pending pods out of it.",
        ),
    ] = False,
    node: Annotated[
        str | None,
        Parameter(
            name=["--node"], metavar="NAME", help="Tell all that plugins said about one node."
        ),
    ] = None,
    top: Annotated[
        int, Parameter(name=["--top"], metavar="N", help="How many nodes to list.")
    ] = 10,
) -> Answer | int:
    """Tell why a pod goes where it goes, or why no node takes it.

    The cluster is that of kubectl's current context, of which a snapshot is read and nothing is
    ever written, or comes from files as with `podium simulate`. The decision is the one that
    `simulate` makes: pods that come first in the queue are placed first. With `--alone` the pod is
    the only one that waits. A pod that runs already is decided anew, as if it were pending now and
    its place were free.

    Nodes that fit are listed with every plugin's score (`-o wide`: raw, normalised and weighted),
    nodes that do not are counted by reason. `--node` shows one node in full, including filters that
    were not asked because another one had said no. `-o json` and `-o yaml` hold all of it.

    With `--recorded` nothing is decided: a scheduler that runs, Podium's own, is asked what it has
    decided for the pod last, and where it stands in the queue.

    **Examples**

    ```
    podium explain web-0 -f cluster.yaml -f pods.yaml
    podium explain deployment/web -n shop --kubeconfig ~/.kube/config
    podium explain shop/web-0 --recorded --kubeconfig podium.kubeconfig
    podium explain kube-system/coredns-5d4 -f cluster.json --top 20
    podium explain gpu-trainer -f cluster.yaml -f pods.yaml --node gpu-a1
    podium explain web-0 -f cluster.json --alone -o json | jq '.attempts[-1].nodes'
    ```

    **Exit code** 0 if the pod gets a node, 1 if not, 2 if the input is wrong, 70 if Podium has a
    bug.
    """
    from podium.commands.explain_view import ExplanationView
    from podium.commands.preparation import (
        WORKLOADS,
        only,
        prepare_simulation,
        workload_kinds,
    )
    from podium.commands.recorded import ask_scheduler
    from podium.commands.recorded_view import show_record
    from podium.commands.simulate import tell_crashes_of
    from podium.offline.simulate import ExplainedPod
    from podium.offline.simulate.missing_pods import PodsRefusedError
    from podium.offline.simulate.pod_references import choose_result, names_workload
    from podium.scheduler.config.policy_names import FILTER_GROUPS
    from podium.scheduler.explain.explanation import describe_critical_toleration

    if recorded.is_asked:
        return ask_scheduler(pod, options.cluster, recorded, show_record)
    also = workload_kinds(pod, WORKLOADS) if names_workload(pod) else ()
    prepared = prepare_simulation(options.files(paths), options, also)
    scenario = prepared.scenario
    try:
        found = prepared.require_pod(pod)
    except PodsRefusedError as problem:
        print_line(f"podium: {problem}", error=True)
        return NO
    if node is not None:
        _require_node(scenario, node)
    key = f"{found.metadata.namespace}/{found.metadata.name}"
    runs_on = found.spec.node_name
    if runs_on or alone:
        scenario = only(scenario, found)
    elif names_workload(pod):
        chosen = choose_result(prepared.run(), found, of_workload=True)
        if chosen.key != key:
            print_line(f"podium: {chosen.key} of the same gets no node", error=True)
        key = chosen.key
    report = prepared.run(watch=[key], until=key, scenario=scenario)
    explained = ExplainedPod.of(report, key, runs_on=runs_on, alone=alone)
    about_pod = describe_critical_toleration(explained.result.pod)
    return ExplanationView(
        explained,
        report,
        notes=(*about_pod, *report.notes),
        notes_on_terminal=(*about_pod, *prepared.notes, *report.compared_results),
        has_crashed=tell_crashes_of(report),
        groups=FILTER_GROUPS if prepared.equipped.configuration.from_policy else {},
        node=node,
        top=max(top, 1),
    )


def _list_names(known: Sequence[str], most: int = 5) -> str:
    listed = ", ".join(sorted(known)[:most]) + (", ..." if len(known) > most else "")
    return f"there are {listed}" if known else "there are no pods at all"


def _require_node(scenario: Scenario, name: str) -> None:
    known = [node.metadata.name for node in scenario.nodes]
    if name not in known:
        remedy = did_you_mean(closest(name, known)) or _list_names(known)
        raise InputError(f"no node named {name} in the input", remedy=remedy)
