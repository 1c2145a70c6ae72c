"""`podium compare`: what would other configurations make of the same pods?"""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import Parameter

from podium.api.errors import InputError
from podium.api.go_duration import Duration
from podium.cli.compare_document import comparison_document
from podium.cli.compare_view import show_comparison
from podium.cli.documents import print_document
from podium.cli.exit_codes import BROKEN, NO, OK
from podium.cli.input_warnings import input_warnings_document, show_input_warnings
from podium.cli.options import (
    Output,
    ShowAll,
    progress_bar,
)
from podium.cli.preparation import prepare_simulations
from podium.cli.simulate import tell_crashes
from podium.cli.simulation_options import InputOptions, SimulationOptions
from podium.cli.tables import Screen, count
from podium.simulator import Scenario, SimulationReport
from podium.what_if.comparison import (
    DEFAULT,
    ComparisonQuestion,
    NamedConfiguration,
    plan_seeds,
    require_configs,
    run_comparison,
)
from podium.what_if.conditions import parse_condition
from podium.what_if.run_metrics import Yardstick, choose_yardstick

_INPUT: Final = InputOptions()


def compare(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: InputOptions = _INPUT,
    config: Annotated[
        list[str] | None,
        Parameter(
            name=["--config"],
            negative="",
            metavar="FILE",
            help="A KubeSchedulerConfiguration, or default for kube-scheduler's defaults. The "
            "others are compared with the first. May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        Parameter(
            name=["--seeds"],
            metavar="N",
            help="Runs of each configuration. The first has the pods in the order of the input, "
            "the others in an order that their seed decides.",
        ),
    ] = 1,
    jobs: Annotated[
        int, Parameter(name=["--jobs"], metavar="N", help="Processes that share the runs.")
    ] = 1,
    typical_pod: Annotated[
        str | None,
        Parameter(
            name=["--typical-pod"],
            metavar="cpu=2,memory=4Gi",
            help="What is free where this pod does not fit is fragmented. Left out: a pod with the "
            "median requests of the pods to place.",
        ),
    ] = None,
    prices: Annotated[
        list[str] | None,
        Parameter(
            name=["--prices"],
            negative="",
            metavar="NODES:PRICE",
            help="What each of these nodes costs; nodes are a name or labels: pool=general:0.10. "
            "Left out: their annotation or label podium/price. May be repeated.",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        Parameter(
            name=["--fail-if"],
            negative="",
            metavar="CONDITION",
            help="Exit with 1 if this is so of any configuration, on average over seeds: 'pending "
            "> 0'. METRIC.difference is about what others have more than the first. May be "
            "repeated.",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        Parameter(
            name=["--trace"],
            metavar="FILE",
            help="Compare on a cluster that `podium record` has recorded, over time, in place of "
            "files.",
        ),
    ] = None,
    output: Output = "table",
    show_all: ShowAll = False,
) -> int:
    """Compare scheduler configurations on the same cluster and pods.

    The pods of the files arrive under each configuration, as with `podium simulate`, and what comes
    of them is set side by side: how many are placed, how long they wait, how full nodes get, what
    is left in pieces too small, how evenly workloads are spread, what is evicted, which nodes are
    used and what these cost; and which pods go elsewhere.

    With `--seeds` all of it is done several times with the pods in other orders, the same for each
    configuration. Differences are then told with the probability that chance alone makes them as
    large.

    With `--trace` the pods are those of a recorded cluster: they come and go when they did, and so
    do nodes. `podium replay` says more about one configuration.

    **Examples**

    ```
    podium compare --config default --config packing.yaml -f cluster.json -f web.yaml
    podium compare --config old.yaml --config new.yaml -f cluster.json --seeds 20 --jobs 4
    podium compare --config new.yaml -f cluster.json -f web.yaml --fail-if 'pending > 0'
    podium compare --config old.yaml --config new.yaml -f cluster.json \\
        --fail-if 'cost.difference > 0' -o json | jq '.conditions'
    podium compare --config default --config packing.yaml --trace night.podium
    ```

    **Exit code** 0; 1 if a condition of `--fail-if` holds; 2 if the input is wrong, 70 if Podium
    has a bug.
    """
    configs = config or []
    require_configs(configs)
    planned = plan_seeds(options.seed, seeds, jobs)
    conditions = [parse_condition(text) for text in fail_if or ()]
    if trace is not None:
        from podium.cli.compare_trace import compare_trace

        _refuse_beside_trace(options, paths, jobs, typical_pod, prices)
        given = _simulation_options(options)
        return compare_trace(trace, configs, planned, conditions, given, output, show_all=show_all)
    prepared = prepare_simulations(
        [*(options.filename or ()), *paths],
        _simulation_options(options),
        [None if each == DEFAULT else each for each in configs],
    )
    scenario = prepared[0].scenario
    yardstick = choose_yardstick(scenario, typical_pod or "", prices or ())
    question = ComparisonQuestion(
        scenario,
        tuple(
            NamedConfiguration(name, each.equipped.configuration, tuple(options.plugin or ()))
            for name, each in zip(configs, prepared, strict=True)
        ),
        prepared[0].gates,
        yardstick,
        planned,
        Duration.parse(options.plugin_timeout).seconds,
        options.validate,
    )
    reports: list[SimulationReport] = []
    with progress_bar("runs", len(configs) * seeds) as progress:
        answer = run_comparison(
            question,
            jobs=jobs,
            on_run=lambda: progress.advance(progress.task_ids[0]),
            on_report=reports.append,
        )
    judgements = answer.judge(conditions)
    (report,) = reports
    equipped = (note for each in prepared for note in each.equipped.notes)
    notes = dict.fromkeys((*report.notes, *equipped, *_price_notes(scenario, yardstick)))
    if output in ("json", "yaml"):
        fields = comparison_document(answer, judgements, yardstick, notes)
        print_document("Comparison", {**input_warnings_document(report), **fields}, output)
    else:
        screen = Screen()
        show_input_warnings(report, screen)
        show_comparison(answer, judgements, yardstick, screen, show_all=show_all)
        screen.notes(list(notes))
    if tell_crashes(answer.crashes):
        return BROKEN
    return NO if any(each.configurations for each in judgements) else OK


def _refuse_beside_trace(
    options: InputOptions,
    paths: Sequence[str],
    jobs: int,
    typical_pod: str | None,
    prices: list[str] | None,
) -> None:
    """What says nothing about a recorded cluster. Raises InputError."""
    given = {
        "files": bool(options.files(paths)),
        "--kubeconfig or --context": options.cluster.is_named,
        "--jobs": jobs != 1,
        "--typical-pod": typical_pod is not None,
        "--prices": bool(prices),
    }
    for name, is_given in given.items():
        if is_given:
            raise InputError(f"--trace is a cluster by itself, and {name} cannot go with it")


def _simulation_options(options: InputOptions) -> SimulationOptions:
    return SimulationOptions(
        **{each.name: getattr(options, each.name) for each in dataclasses.fields(options)}
    )


def _price_notes(scenario: Scenario, yardstick: Yardstick) -> list[str]:
    unpriced = [
        node.metadata.name
        for node in scenario.nodes
        if yardstick.prices and node.metadata.name not in yardstick.prices
    ]
    if not unpriced:
        return []
    return [f"{count(len(unpriced), 'node')} without a price cost nothing here"]
