"""`podium capacity`: how many more of these pods fit?"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import Answer, answers
from podium.commands.options import read_scenario
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.preparation import PreparedSimulation
    from podium.kubernetes.kinds.pod import Pod
    from podium.offline.what_if.pod_templates import TemplatePod


@answers("capacity")
def capacity(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    of: Annotated[
        list[str] | None,
        Parameter(
            name=["--of"],
            negative="",
            metavar="POD",
            help="Ask about a pod of the cluster, or of a workload: web-0, deployment/web. "
            "May be repeated.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        Parameter(
            name=["--until"],
            metavar="SHARE",
            help="Stop when the cluster is so full: 90% of every resource that the pod requests, "
            "or cpu=80%,memory=90%.",
        ),
    ] = None,
    want: Annotated[
        int | None,
        Parameter(
            name=["--want"],
            metavar="N",
            help="How many have to fit; with --shapes, what to add if they do not.",
        ),
    ] = None,
    shapes: Annotated[
        str | None,
        Parameter(
            name=["--shapes"],
            metavar="FILE",
            help="Nodes that could be added, each as often as needed, with prices in the "
            "annotation podium.dev/price.",
        ),
    ] = None,
) -> Answer:
    """Count how many more of a pod fit, and tell what stops the next one.

    The files hold a cluster and the pods to ask about: pods, Deployments, Jobs and so on that no
    server has stored. Copies of a pod are scheduled one after the other, as the configured
    scheduler would, until one finds no node; nothing is preempted for them. Pods that the cluster
    has pending are placed first. Several pods are counted alone, each with the cluster for itself,
    and together, taking turns.

    With `--want` and `--shapes` it is told which nodes to add so that so many fit: the cheapest mix
    of the shapes, or the fewest nodes if they have no prices. DaemonSets of the cluster take their
    part of new nodes first.

    **Examples**

    ```
    podium capacity -f cluster.json -f web.yaml
    podium capacity -f cluster.json -f web.yaml --until 90%
    podium capacity -f cluster.json -f web.yaml --want 200 --shapes shapes.yaml
    podium capacity --kubeconfig ~/.kube/config --of deployment/web -n shop
    podium capacity -f cluster.json -f web.yaml -o json | jq '.pods[].fits'
    podium capacity -f cluster.json -f web.yaml --html report.html
    ```

    **Exit code** 0 if at least one of each fits, or as many as `--want` says; 1 if not; 2 if the
    input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.capacity_view import CapacityView
    from podium.commands.preparation import prepare_simulation
    from podium.commands.simulate import tell_crashes_of
    from podium.offline.simulate.node_daemons import NodeDaemons
    from podium.offline.what_if.capacity import CapacityQuestion
    from podium.offline.what_if.capacity_answer import CapacityAnswer, NodesToAdd
    from podium.offline.what_if.node_shapes import NodePurchase, read_shapes
    from podium.offline.what_if.pod_templates import require_templates
    from podium.offline.what_if.utilisation_limit import NO_LIMIT, parse_limit

    if want is not None and want < 1:
        raise InputError(f"--want {want}", remedy="a number of pods, 1 or more")
    if shapes is not None and want is None:
        raise InputError("--shapes without --want", remedy="--want says how many have to fit")
    limit = parse_limit(until) if until is not None else NO_LIMIT
    prepared = prepare_simulation(options.files(paths), options)
    templates, pending, notes = _templates(prepared, of or [])
    require_templates(templates)
    if want is not None and len(templates) > 1:
        names = ", ".join(template.name for template in templates)
        raise InputError(f"--want is about one pod, here are {names}")
    offered = (
        read_shapes(read_scenario([shapes], options.validation, gates=prepared.gates).nodes)
        if shapes
        else []
    )
    scenario = dataclasses.replace(prepared.scenario, pending=tuple(pending))
    with prepared.open_run(scenario=scenario) as (report, engine, ask):
        has_crashed = tell_crashes_of(report)
        question = CapacityQuestion(engine, scenario.objects, ask, limit)
        alone = [question.alone(template) for template in templates]
        together = question.together(templates) if len(templates) > 1 else []
        add = None
        if want is not None and offered and alone[0].fits < want:
            daemons = NodeDaemons(scenario, prepared.gates)
            buying = NodePurchase(engine, question, daemons.pods_for)
            add = NodesToAdd.of(buying.find(templates[0], want, offered))
    answer = CapacityAnswer(
        enough=all(room.fits >= (want or 1) for room in alone),
        wanted=want,
        pods=tuple(alone),
        together=tuple(together),
        add=add,
    )
    offers = [shape.name for shape in offered]
    return CapacityView(answer, report, (*notes, *report.notes), has_crashed, offers)


def _templates(
    prepared: PreparedSimulation, references: list[str]
) -> tuple[list[TemplatePod], list[Pod], list[str]]:
    from podium.offline.simulate.pod_references import find_pod
    from podium.offline.what_if.pod_templates import split_templates, templates_of

    templates, pending, notes = split_templates(prepared.scenario)
    if references:
        scenario, current = prepared.scenario, prepared.current_namespace
        named = [find_pod(scenario, each, prepared.namespace, current).pod for each in references]
        return templates_of(named), list(prepared.scenario.pending), notes
    return templates, pending, notes
