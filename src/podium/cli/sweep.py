"""`podium sweep`: many inputs, configurations and seeds, each combination a run."""

import dataclasses
from collections.abc import Sequence
from itertools import product
from typing import Annotated, Final

from cyclopts import Parameter

from podium.api.errors import InputError
from podium.api.go_duration import Duration
from podium.cli.compare import price_notes
from podium.cli.documents import print_document
from podium.cli.exit_codes import BROKEN, OK
from podium.cli.options import Output
from podium.cli.preparation import PreparedSimulation, prepare_inputs
from podium.cli.run_options import NO_RUN_OPTIONS, Jobs, RunOptions, follow_runs
from podium.cli.simulate import tell_crashes
from podium.cli.simulation_options import InputOptions, as_simulation_options
from podium.cli.sweep_view import SweepAnswer, show_sweep, sweep_document
from podium.cli.tables import Screen
from podium.files.bounded_files import STDIN
from podium.what_if.comparison import DEFAULT, plan_seeds, require_configs
from podium.what_if.measured_runs import InputReview, MeasuredRun
from podium.what_if.run_matrix import (
    NamedConfiguration,
    NamedInput,
    RunMatrix,
    RunPlace,
    make_runs,
)
from podium.what_if.run_metrics import choose_yardstick
from podium.what_if.run_tables import open_run_tables

_INPUT: Final = InputOptions()


def sweep(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: InputOptions = _INPUT,
    config: Annotated[
        list[str] | None,
        Parameter(
            name=["--config"],
            negative="",
            metavar="FILE",
            help="A KubeSchedulerConfiguration, or default for kube-scheduler's defaults. May be "
            "repeated. Left out: the defaults.",
        ),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        Parameter(
            name=["--cluster"],
            negative="",
            metavar="FILE",
            help="A cluster, beside the files of -f. Repeated: each is an input of its own.",
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        Parameter(
            name=["--workload"],
            negative="",
            metavar="FILE",
            help="Pods or workloads, beside the files of -f. Repeated: each is an input of its "
            "own, with every cluster.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        Parameter(
            name=["--seeds"],
            metavar="N",
            help="Runs of each input and configuration. The first has the pods in the order of the "
            "input, the others in an order that their seed decides.",
        ),
    ] = 1,
    jobs: Jobs = 0,
    runs: RunOptions = NO_RUN_OPTIONS,
    typical_pod: Annotated[
        str | None,
        Parameter(
            name=["--typical-pod"],
            metavar="cpu=2,memory=4Gi",
            help="What is free where this pod does not fit is fragmented. Left out: of each input "
            "a pod with the median requests of its pods to place.",
        ),
    ] = None,
    prices: Annotated[
        list[str] | None,
        Parameter(
            name=["--prices"],
            negative="",
            metavar="NODES:PRICE",
            help="What each of these nodes costs; nodes are a name or labels: pool=general:0.10. "
            "May be repeated.",
        ),
    ] = None,
    output: Output = "table",
) -> int:
    """Run every combination of clusters, workloads, configurations and seeds.

    Each run is one of `podium compare`, with its metrics. Shown are means and percentiles over
    seeds; `--parquet` writes every run and every pod for other programs. With `--resume` a sweep
    that was ended goes on where it was, on other machines if need be.

    **Examples**

    ```
    podium sweep --config default --config packing.yaml --seeds 20 -f cluster.json -f web.yaml
    podium sweep --cluster small.json --cluster large.json --workload day.yaml \\
        --workload night.yaml --seeds 50 --resume results --parquet tables
    podium sweep --config new.yaml --seeds 1000 -f cluster.json --dask tcp://scheduler:8786 \\
        --resume results --parquet tables
    ```

    **Exit code** 0; 2 if the input is wrong, 70 if Podium has a bug.
    """
    configs = config or [DEFAULT]
    require_configs(configs)
    planned = plan_seeds(options.seed, seeds, jobs)
    executor, tables = runs.dask.make_executor(jobs), runs.tables
    named = _combine([*(options.filename or ()), *paths], cluster or (), workload or ())
    prepared = prepare_inputs(
        [files for _, files in named],
        as_simulation_options(options),
        [None if each == DEFAULT else each for each in configs],
    )
    matrix = RunMatrix(
        tuple(
            _name_input(name, of[0], typical_pod or "", prices or ())
            for (name, _), of in zip(named, prepared, strict=True)
        ),
        tuple(
            NamedConfiguration(name, each.equipped.configuration, tuple(options.plugin or ()))
            for name, each in zip(configs, prepared[0], strict=True)
        ),
        prepared[0][0].gates,
        planned,
        Duration.parse(options.plugin_timeout).seconds,
        options.validate,
        all_places=bool(tables),
    )
    keys: list[str] = []
    measured: list[MeasuredRun] = []
    reviews: dict[int, InputReview] = {}
    with (
        follow_runs(len(named) * len(configs) * seeds) as on_ended,
        open_run_tables(matrix, tables) as written,
    ):
        for ended in make_runs(matrix, RunPlace(executor, runs.resume, on_ended)):
            written.add(ended)
            keys.append(ended.key)
            measured.append(ended.measured.without_places())
            if ended.review is not None:
                _add_review(reviews, ended.position.input, ended.review, matrix)
    answer = SweepAnswer(matrix, tuple(keys), tuple(measured), reviews)
    if output in ("json", "yaml"):
        print_document("Sweep", sweep_document(answer), output)
    else:
        show_sweep(answer, Screen())
    crashes = {pod: (pod, text) for run in measured for pod, text in run.crashes}
    return BROKEN if tell_crashes(list(crashes.values())) else OK


def _combine(
    files: Sequence[str], clusters: Sequence[str], workloads: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """Every cluster with every workload: a name and all files. Raises InputError."""
    for option, given in (("--cluster", clusters), ("--workload", workloads)):
        if len({*given}) < len(given):
            raise InputError(f"the same file is there twice with {option}")
    if STDIN in (*clusters, *workloads) or (
        STDIN in files and max(len(clusters), len(workloads)) > 1
    ):
        raise InputError("standard input can be read once", remedy="write it into a file first")
    found = []
    for one, other in product(clusters or [""], workloads or [""]):
        own = [each for each in (one, other) if each]
        all_files = [*([one] if one else ()), *files, *([other] if other else ())]
        found.append((" + ".join(own or files) or "cluster", all_files))
    return found


def _add_review(
    reviews: dict[int, InputReview], number: int, review: InputReview, matrix: RunMatrix
) -> None:
    """What the first configuration says of an input, with the notes of all of them."""
    given = matrix.inputs[number]
    first = reviews.get(number, review)
    notes = (*first.notes, *review.notes, *price_notes(given.scenario, given.yardstick))
    reviews[number] = dataclasses.replace(first, notes=tuple(dict.fromkeys(notes)))


def _name_input(
    name: str, prepared: PreparedSimulation, typical_pod: str, prices: Sequence[str]
) -> NamedInput:
    scenario = prepared.scenario
    return NamedInput(name, scenario, choose_yardstick(scenario, typical_pod, prices))
