"""`podium explain`: why did this pod go there, or nowhere?"""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from podium.api.errors import InputError, closest, did_you_mean
from podium.api.pod import Pod
from podium.cli.exit_codes import NO, OK
from podium.cli.explain_document import explanation_document
from podium.cli.explain_view import show_explanation
from podium.cli.input_warnings import input_warnings_document, show_input_warnings
from podium.cli.options import (
    Config,
    Filename,
    Gates,
    Output,
    PluginFiles,
    Seed,
    Validate,
    ValidationMode,
)
from podium.cli.preparation import only, prepare_simulation
from podium.cli.simulate import exit_code
from podium.cli.tables import Screen, print_document
from podium.simulator import ExplainedPod, Scenario, find_pods_by_name


def explain(
    pod: Annotated[str, Parameter(help="The pod: name or namespace/name.")],
    /,
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    filename: Filename = None,
    config: Config = None,
    plugin: PluginFiles = None,
    feature_gates: Gates = None,
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
    seed: Seed = 0,
    validation: ValidationMode = "strict",
    validate: Validate = False,
    output: Output = "table",
) -> int:
    """Tell why a pod goes where it goes, or why no node takes it.

    The files are those of `podium simulate`, and the decision is the one that it makes: pods that
    come first in the queue are placed first. With `--alone` the pod is the only one that waits. A
    pod that runs already is decided anew, as if it were pending now and its place were free.

    Nodes that fit are listed with every plugin's score (`-o wide`: raw, normalised and weighted),
    nodes that do not are counted by reason. `--node` shows one node in full, including filters that
    were not asked because another one had said no. `-o json` and `-o yaml` hold all of it.

    **Examples**

    ```
    podium explain web-0 -f cluster.yaml -f pods.yaml
    podium explain kube-system/coredns-5d4 -f cluster.json --top 20
    podium explain gpu-trainer -f cluster.yaml -f pods.yaml --node gpu-a1
    podium explain web-0 -f cluster.json --alone -o json | jq '.attempts[-1].nodes'
    ```

    **Exit code** 0 if the pod gets a node, 1 if not, 2 if the input is wrong, 70 if Podium has a
    bug.
    """
    prepared = prepare_simulation(
        [*(filename or ()), *paths],
        validation=validation,
        config=config,
        feature_gates=feature_gates,
        plugin=plugin,
        seed=seed,
        validate=validate,
    )
    scenario = prepared.scenario
    found = require_pod(scenario, pod)
    if node is not None:
        _require_node(scenario, node)
    key = f"{found.metadata.namespace}/{found.metadata.name}"
    runs_on = found.spec.node_name
    if runs_on or alone:
        scenario = only(scenario, found)
    report = prepared.run(watch=[key], until=key, scenario=scenario)
    explained = ExplainedPod.of(report, key, runs_on=runs_on, alone=alone)
    if output in ("json", "yaml"):
        document = explanation_document(explained, only_node=node)
        warnings = input_warnings_document(report, key=key)
        print_document({**warnings, **document, "notes": list(report.notes)}, output)
    else:
        screen = Screen()
        show_input_warnings(report, screen, key=key)
        show_explanation(explained, screen, wide=output == "wide", top=max(top, 1), node=node)
        screen.notes(prepared.equipped.notes)
    crashed = exit_code(report)
    return crashed if crashed not in (OK, NO) else (OK if explained.result.placed else NO)


def require_pod(scenario: Scenario, name: str) -> Pod:
    """The one pod that a user means by `name` or `namespace/name`."""
    found = find_pods_by_name(scenario, name)
    if len(found) == 1:
        return found[0]
    if found:
        keys = ", ".join(sorted(_key(pod) for pod in found))
        raise InputError(f"{len(found)} pods are named {name}", remedy=f"say which: {keys}")
    pods = (*scenario.pending, *scenario.running)
    known = [_key(pod) for pod in pods] if "/" in name else [pod.metadata.name for pod in pods]
    remedy = did_you_mean(closest(name, known)) or _list_names(known)
    raise InputError(f"no pod named {name} in the input", remedy=remedy)


def _list_names(known: Sequence[str], most: int = 5) -> str:
    listed = ", ".join(sorted(known)[:most]) + (", ..." if len(known) > most else "")
    return f"there are {listed}" if known else "there are no pods at all"


def _require_node(scenario: Scenario, name: str) -> None:
    known = [node.metadata.name for node in scenario.nodes]
    if name not in known:
        remedy = did_you_mean(closest(name, known)) or _list_names(known)
        raise InputError(f"no node named {name} in the input", remedy=remedy)


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
