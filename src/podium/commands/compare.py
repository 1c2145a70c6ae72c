"""`podium compare`: what would other configurations make of the same pods?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.answering import AS_TABLE, Answer, AnswerOptions, answers
from podium.commands.comparison_options import Configs, FailIf, Prices, SeedCount, TypicalPod
from podium.commands.run_options import NO_RUN_OPTIONS, Jobs, RunOptions, follow_runs
from podium.commands.simulation_options import InputOptions, as_simulation_options
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.preparation import PreparedSimulation
    from podium.offline.simulate import Scenario
    from podium.offline.what_if.run_matrix import RunMatrix
    from podium.offline.what_if.run_metrics import Yardstick


_INPUT: Final = InputOptions()


@answers("compare")
def compare(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: InputOptions = _INPUT,
    config: Configs = None,
    seeds: SeedCount = 1,
    jobs: Jobs = 1,
    runs: RunOptions = NO_RUN_OPTIONS,
    typical_pod: TypicalPod = None,
    prices: Prices = None,
    fail_if: FailIf = None,
    trace: Annotated[
        str | None,
        Parameter(
            name=["--trace"],
            metavar="FILE",
            help="Compare on a cluster that `podium record` has recorded, over time, in place of "
            "files.",
        ),
    ] = None,
    printed: AnswerOptions = AS_TABLE,
) -> Answer:
    """Compare scheduler configurations on the same cluster and pods.

    The pods of the files arrive under each configuration, as with `podium simulate`, and what comes
    of them is set side by side: how many are placed, how long they wait, how full nodes get, what
    is left in pieces too small, how evenly workloads are spread, what is evicted, which nodes are
    used and what these cost; and which pods go elsewhere.

    One configuration alone is set beside the defaults, unless it is only to be judged by
    `--fail-if`.

    With `--seeds` all of it is done several times with the pods in other orders, the same for each
    configuration. Differences are then told with the probability that chance alone makes them as
    large.

    With `--trace` the pods are those of a recorded cluster: they come and go when they did, and so
    do nodes. `podium replay` says more about one configuration.

    **Examples**

    ```
    podium compare --config default --config packing.yaml -f cluster.json -f web.yaml
    podium compare --config old.yaml --config new.yaml -f cluster.json --seeds 20 --jobs 4
    podium compare --config old.yaml --config new.yaml -f cluster.json --seeds 500 \\
        --dask tcp://scheduler:8786 --resume results --parquet tables
    podium compare --config new.yaml -f cluster.json -f web.yaml --fail-if 'pending > 0'
    podium compare --config old.yaml --config new.yaml -f cluster.json \\
        --fail-if 'cost.difference > 0' -o json | jq '.conditions'
    podium compare --config old.yaml --config new.yaml -f cluster.json --seeds 20 --html report.html
    podium compare --config default --config packing.yaml --trace night.podium
    ```

    **Exit code** 0; 1 if a condition of `--fail-if` holds; 2 if the input is wrong, 70 if Podium
    has a bug.
    """
    from podium.commands.compare_view import ComparisonOfConfigurations
    from podium.commands.preparation import prepare_simulations
    from podium.commands.simulate import tell_crashes
    from podium.offline.what_if.comparison import (
        DEFAULT,
        plan_seeds,
        require_configs,
        run_comparison,
    )
    from podium.offline.what_if.conditions import parse_condition
    from podium.offline.what_if.run_matrix import RunPlace, open_run_tables
    from podium.offline.what_if.run_metrics import choose_yardstick

    configs = config or []
    require_configs(configs)
    if len(configs) == 1 and configs != [DEFAULT] and not fail_if:
        configs = [DEFAULT, *configs]
    planned = plan_seeds(options.seed, seeds, jobs)
    executor, tables = runs.dask.make_executor(jobs), runs.tables
    conditions = [parse_condition(text) for text in fail_if or ()]
    if trace is not None:
        from podium.commands.compare_trace import compare_trace

        _refuse_beside_trace(
            {
                "files": bool(options.files(paths)),
                "--kubeconfig or --context": options.cluster.is_named,
                "--jobs": jobs != 1,
                "--typical-pod": typical_pod is not None,
                "--prices": bool(prices),
                "--html": printed.html is not None,
                "--dask, --resume, --parquet or --csv": runs != NO_RUN_OPTIONS,
            }
        )
        given = as_simulation_options(options)
        return compare_trace(trace, configs, planned, conditions, given)
    prepared = prepare_simulations(
        options.files(paths),
        as_simulation_options(options),
        [None if each == DEFAULT else each for each in configs],
    )
    scenario = prepared[0].scenario
    yardstick = choose_yardstick(scenario, prepared[0].gates, typical_pod or "", prices or ())
    matrix = _plan_runs(prepared, configs, options, yardstick, planned, keeps_places=bool(tables))
    with (
        follow_runs(len(configs) * seeds) as on_ended,
        open_run_tables(matrix, tables) as written,
    ):
        found = run_comparison(matrix, RunPlace(executor, runs.resume, on_ended), written.add)
    answer, review = found.answer, found.review
    judgements = answer.judge(conditions)
    equipped = (note for each in prepared for note in each.equipped.notes)
    notes = dict.fromkeys((*review.notes, *equipped, *price_notes(scenario, yardstick)))
    return ComparisonOfConfigurations(
        answer,
        judgements,
        yardstick.typical_pod,
        scenario,
        review,
        list(notes),
        tell_crashes(answer.crashes),
    )


def _plan_runs(
    prepared: Sequence[PreparedSimulation],
    names: Sequence[str],
    options: InputOptions,
    yardstick: Yardstick,
    seeds: tuple[int, ...],
    *,
    keeps_places: bool,
) -> RunMatrix:
    """The same input under each configuration; `names` are those of the configurations."""
    from podium.golang.durations import Duration
    from podium.offline.what_if.run_matrix import NamedConfiguration, NamedInput, RunMatrix

    first, plugins = prepared[0], tuple(options.plugin or ())
    return RunMatrix(
        (NamedInput("", first.scenario, yardstick),),
        tuple(
            NamedConfiguration(name, each.equipped.configuration, plugins)
            for name, each in zip(names, prepared, strict=True)
        ),
        first.gates,
        seeds,
        Duration.parse(options.plugin_timeout).seconds,
        options.validate,
        all_places=keeps_places,
    )


def _refuse_beside_trace(given: Mapping[str, bool]) -> None:
    """What says nothing about a recorded cluster. Raises InputError."""
    for name, is_given in given.items():
        if is_given:
            raise InputError(f"--trace is a cluster by itself, and {name} cannot go with it")


def price_notes(scenario: Scenario, yardstick: Yardstick) -> list[str]:
    """That some nodes have no price, if others have."""
    from podium.commands.tables import count

    unpriced = [
        node.metadata.name
        for node in scenario.nodes
        if yardstick.prices and node.metadata.name not in yardstick.prices
    ]
    if not unpriced:
        return []
    return [f"{count(len(unpriced), 'node')} without a price cost nothing here"]
