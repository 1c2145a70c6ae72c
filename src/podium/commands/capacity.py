"""`podium capacity`: how many more of these pods fit?"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.exit_codes import NO, OK
from podium.commands.html_report import Html, command_text
from podium.commands.options import Output, ShowAll, read_scenario
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.preparation import PreparedSimulation
    from podium.kubernetes.kinds.pod import Pod
    from podium.offline.what_if.pod_templates import PodTemplate


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
            "annotation podium/price.",
        ),
    ] = None,
    html: Html = None,
    output: Output = "table",
    show_all: ShowAll = False,
) -> int:
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
    from podium.commands.capacity_document import capacity_document
    from podium.commands.capacity_report import capacity_report
    from podium.commands.capacity_view import show_capacity
    from podium.commands.documents import print_document
    from podium.commands.input_warnings import input_warnings_document, show_input_warnings
    from podium.commands.preparation import prepare_simulation
    from podium.commands.simulate import exit_code
    from podium.commands.tables import Screen
    from podium.net.files.private_files import write_private_file
    from podium.offline.simulate.node_daemons import NodeDaemons
    from podium.offline.what_if.capacity import CapacityQuestion
    from podium.offline.what_if.capacity_answer import CapacityAnswer, Purchase
    from podium.offline.what_if.node_shapes import NodePurchase, read_shapes
    from podium.offline.what_if.pod_templates import require_templates
    from podium.offline.what_if.utilisation_limit import NO_LIMIT, parse_limit

    if want is not None and want < 1:
        raise InputError(f"--want {want}", remedy="a number of pods, 1 or more")
    if shapes is not None and want is None:
        raise InputError("--shapes without --want", remedy="--want says how many have to fit")
    limit = parse_limit(until) if until is not None else NO_LIMIT
    files = options.files(paths)
    prepared = prepare_simulation(files, options)
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
    with prepared.running(scenario=scenario) as (report, engine, ask):
        crashed = exit_code(report)
        question = CapacityQuestion(engine, scenario.objects, ask, limit)
        answer = CapacityAnswer(
            [question.alone(template) for template in templates],
            question.together(templates) if len(templates) > 1 else [],
        )
        if want is not None:
            answer.wanted = want
        if want is not None and offered and answer.alone[0].fits < want:
            daemons = NodeDaemons(scenario, prepared.gates)
            buying = NodePurchase(engine, question, daemons.pods_for)
            mix = buying.find(templates[0], want, offered)
            answer.purchase = Purchase(mix, tuple(shape.name for shape in offered))
    told = (*notes, *report.notes)
    fields = {**input_warnings_document(report), **capacity_document(answer, told)}
    if html is not None:
        more = [("--of", of), ("--until", until), ("--want", want), ("--shapes", shapes)]
        asked = command_text("capacity", files, options, more)
        write_private_file(html, capacity_report(fields, answer, asked))
    if output in ("json", "yaml"):
        print_document("Capacity", fields, output)
    else:
        screen = Screen()
        show_input_warnings(report, screen)
        show_capacity(answer, screen, wide=output == "wide", show_all=show_all)
        screen.notes(told)
    if crashed not in (OK, NO):
        return crashed
    return OK if answer.is_enough else NO


def _templates(
    prepared: PreparedSimulation, references: list[str]
) -> tuple[list[PodTemplate], list[Pod], list[str]]:
    from podium.offline.simulate.pod_references import find_pod
    from podium.offline.what_if.pod_templates import split_templates, templates_of

    templates, pending, notes = split_templates(prepared.scenario)
    if references:
        scenario, current = prepared.scenario, prepared.current_namespace
        named = [find_pod(scenario, each, prepared.namespace, current).pod for each in references]
        return templates_of(named), list(prepared.scenario.pending), notes
    return templates, pending, notes
