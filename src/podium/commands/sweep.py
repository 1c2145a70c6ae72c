"""`podium sweep`: many inputs, configurations and seeds, each combination a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from cyclopts import Parameter

from podium.commands.answering import IN_FULL, Answer, answers
from podium.commands.comparison_options import Prices, SeedCount, TypicalPod
from podium.commands.run_options import NO_RUN_OPTIONS, Jobs, RunOptions, follow_runs
from podium.commands.simulation_options import InputOptions, as_simulation_options
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.offline.simulate import Scenario
    from podium.offline.what_if.measured_runs import InputReview, MeasuredRun
    from podium.offline.what_if.run_matrix import NamedInput, RunMatrix
    from podium.offline.what_if.run_metrics import Yardstick
    from podium.offline.what_if.scenario_runs import NamedScenario
    from podium.user_code.plugins import Equipped


_INPUT: Final = InputOptions()


@answers("sweep", IN_FULL)
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
    scenario: Annotated[
        list[str] | None,
        Parameter(
            name=["--scenario"],
            negative="",
            metavar="FILE",
            help="A scenario file, or the name of one that comes with Podium. Repeated: each is "
            "an input of its own. Files of -f and --cluster stand in for its cluster.",
        ),
    ] = None,
    seeds: SeedCount = 1,
    jobs: Jobs = 0,
    runs: RunOptions = NO_RUN_OPTIONS,
    typical_pod: TypicalPod = None,
    prices: Prices = None,
) -> Answer:
    """Run every combination of clusters, workloads or scenarios, configurations and seeds.

    Each run is one of `podium compare`, or of `podium scenario run` for a scenario, with its
    metrics. Shown are means and percentiles over
    seeds; `--parquet` writes every run and every pod for other programs. With `--resume` a sweep
    that was ended goes on where it was, on other machines if need be.

    **Examples**

    ```
    podium sweep --config default --config packing.yaml --seeds 20 -f cluster.json -f web.yaml
    podium sweep --cluster small.json --cluster large.json --workload day.yaml \\
        --workload night.yaml --seeds 50 --resume results --parquet tables
    podium sweep --config default --config packing.yaml --scenario weekday-web --seeds 10
    podium sweep --config new.yaml --seeds 1000 -f cluster.json --dask tcp://scheduler:8786 \\
        --resume results --parquet tables
    podium sweep --config default --config new.yaml --seeds 20 -f cluster.json --html report.html
    ```

    **Exit code** 0; 2 if the input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.simulate import tell_crashes
    from podium.commands.sweep_view import SweepView
    from podium.golang.durations import Duration
    from podium.offline.what_if.comparison import DEFAULT, plan_seeds, require_configs
    from podium.offline.what_if.run_matrix import (
        NamedConfiguration,
        RunMatrix,
        RunPlace,
        make_runs,
        open_run_tables,
    )
    from podium.offline.what_if.run_metrics import choose_yardstick

    configs = config or [DEFAULT]
    require_configs(configs)
    planned = plan_seeds(options.seed, seeds, jobs)
    executor, tables = runs.dask.make_executor(jobs), runs.tables
    files = [*(options.filename or ()), *paths]
    gates, equipped, inputs = _read_inputs(
        options,
        configs,
        _Wanted(files, cluster or [], workload or [], scenario or []),
        lambda of, gates: choose_yardstick(of, gates, typical_pod or "", prices or ()),
    )
    matrix = RunMatrix(
        tuple(inputs),
        tuple(
            NamedConfiguration(name, each.configuration, tuple(options.plugin or ()))
            for name, each in zip(configs, equipped, strict=True)
        ),
        gates,
        planned,
        Duration.parse(options.plugin_timeout).seconds,
        options.validate,
        all_places=bool(tables),
    )
    keys: list[str] = []
    measured: list[MeasuredRun] = []
    reviews: dict[int, InputReview] = {}
    with (
        follow_runs(len(inputs) * len(configs) * seeds) as on_ended,
        open_run_tables(matrix, tables) as written,
    ):
        for ended in make_runs(matrix, RunPlace(executor, runs.resume, on_ended)):
            written.add(ended)
            keys.append(ended.key)
            measured.append(ended.measured.without_places())
            if ended.review is not None and not ended.position.turn:
                _add_review(reviews, ended.position.input, ended.review, matrix)
    crashes = {pod: (pod, text) for run in measured for pod, text in run.crashes}
    has_crashed = tell_crashes(crashes.values())
    return SweepView(matrix, tuple(keys), tuple(measured), reviews, has_crashed)


class _Wanted(NamedTuple):
    """Files that all inputs have, and those of which each makes inputs of its own."""

    files: list[str]
    clusters: list[str]
    workloads: list[str]
    scenarios: list[str]

    def check(self) -> None:
        """Raises InputError."""
        from podium.net.files.bounded_files import STDIN

        for option, given in (
            ("--cluster", self.clusters),
            ("--workload", self.workloads),
            ("--scenario", self.scenarios),
        ):
            if len({*given}) < len(given):
                raise InputError(f"the same file is there twice with {option}")
        if self.workloads and self.scenarios:
            raise InputError("scenarios bring their own workloads", remedy="leave --workload out")
        others = (*self.clusters, *self.workloads, *self.scenarios)
        many = max(map(len, (self.clusters, self.workloads, self.scenarios)))
        if STDIN in others or (STDIN in self.files and many > 1):
            raise InputError("standard input can be read once", remedy="write it into a file first")


def _read_inputs(
    options: InputOptions,
    configs: Sequence[str],
    wanted: _Wanted,
    measure_by: Callable[[Scenario, FeatureGates], Yardstick],
) -> tuple[FeatureGates, list[Equipped], list[NamedInput | NamedScenario]]:
    """Every cluster with every workload or scenario. Raises InputError."""
    from podium.commands.preparation import equip_configurations, prepare_inputs
    from podium.offline.what_if.comparison import DEFAULT
    from podium.offline.what_if.run_matrix import NamedInput
    from podium.offline.what_if.scenario_runs import name_scenario

    wanted.check()
    named = [None if each == DEFAULT else each for each in configs]
    simulated = as_simulation_options(options)
    inputs: list[NamedInput | NamedScenario] = []
    if wanted.scenarios and not (wanted.files or wanted.clusters):
        gates, equipped = equip_configurations(simulated, named)
        inputs += (name_scenario(each, gates=gates) for each in wanted.scenarios)
        return gates, equipped, inputs
    combined = list(product(wanted.clusters or [""], wanted.workloads or [""]))
    prepared = prepare_inputs(
        [[*filter(None, (one, *wanted.files, other))] for one, other in combined],
        simulated,
        named,
    )
    for both, of in zip(combined, prepared, strict=True):
        own = [each for each in both if each]
        scenario = of[0].scenario
        inputs += [
            name_scenario(each, " + ".join((*own, each)), scenario, gates=of[0].gates)
            for each in wanted.scenarios
        ] or [
            NamedInput(
                " + ".join(own or wanted.files) or "cluster",
                scenario,
                measure_by(scenario, of[0].gates),
            )
        ]
    return prepared[0][0].gates, [each.equipped for each in prepared[0]], inputs


def _add_review(
    reviews: dict[int, InputReview], number: int, review: InputReview, matrix: RunMatrix
) -> None:
    """What the first configuration says of an input, with the notes of all of them."""
    from podium.commands.compare import price_notes
    from podium.offline.what_if.run_matrix import NamedInput

    given = matrix.inputs[number]
    first = reviews.get(number, review)
    notes = [*first.notes, *review.notes]
    if isinstance(given, NamedInput):
        notes += price_notes(given.scenario, given.yardstick)
    reviews[number] = dataclasses.replace(first, notes=tuple(dict.fromkeys(notes)))
