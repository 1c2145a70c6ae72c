"""Inputs by configurations by seeds: each a run of its own, made here or wherever there is room.

The first seed has the pods in the order of the input. Further seeds have them in an order that the
seed decides, the same for every configuration, and choose otherwise between equal nodes. What a run
gives depends on its input, configuration and seed alone, not on where it is made: a process that
takes part gets the matrix and makes everything else anew.

Runs as tables for other programs: `runs` has a row for each run, `pods` one for each pod of it.
Pods are written run by run and not held. Which metrics there are is known after the last run, so
the rows of `runs`, which are few, wait for it.
"""

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioFile
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.sweeps.execution import ResultDirectory, collect_finished, execute_sweep
from podium.offline.sweeps.executors import Executor, PlannedRun, Sweep, digest_values
from podium.offline.sweeps.result_tables import Column, Row, Table, TableFormat, open_table
from podium.offline.what_if.measured_runs import (
    InputReview,
    MeasuredRun,
    RunOutcome,
    list_metrics,
    loads_of,
    places_of,
    review_of,
)
from podium.offline.what_if.run_metrics import Yardstick, measure_run, wait_quantiles, waiting_times
from podium.offline.what_if.scenario_runs import NamedScenario, measure_scenario
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.types import Configuration
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.modules import digest_code, loaded_anew
from podium.user_code.plugins import Equipped, equip
from podium.user_code.time_limits import DEFAULT_LIMIT_S, limit_calls

_NOTHING: Final = Scenario((), (), ())


@dataclass(frozen=True, slots=True)
class NamedConfiguration:
    """`name` is that of its file, or `default`."""

    name: str
    configuration: Configuration
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedInput:
    """A cluster with the pods that arrive in it, and what its runs are measured by."""

    name: str
    scenario: Scenario
    yardstick: Yardstick


@dataclass(frozen=True, slots=True)
class RunMatrix:
    """`plugin_timeout_s` is what a call into a user's plugin may take, 0 for no limit; `all_places`
    has runs tell where each pod goes, which otherwise those of the first seed do."""

    inputs: tuple[NamedInput | NamedScenario, ...]
    configurations: tuple[NamedConfiguration, ...]
    gates: FeatureGates
    seeds: tuple[int, ...] = (0,)
    plugin_timeout_s: float = DEFAULT_LIMIT_S
    validate: bool = False
    all_places: bool = False


@dataclass(frozen=True, slots=True)
class RunPosition:
    """Which run of a matrix: numbers of its input and configuration, and the turn of its seed."""

    input: int
    configuration: int
    turn: int


@dataclass(frozen=True, slots=True)
class EndedRun:
    """`key` stands for everything that the run's result follows from."""

    key: str
    position: RunPosition
    measured: MeasuredRun
    review: InputReview | None


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where runs are made, and the directory where results are kept, if there is one. `on_ended` is
    told how many runs have ended."""

    executor: Executor
    resume: Path | None = None
    on_ended: Callable[[int], None] = lambda _: None


def make_runs(matrix: RunMatrix, place: RunPlace) -> Iterator[EndedRun]:
    """All runs, in order of inputs, then seeds, then configurations. Raises InputError before the
    first for what no scheduler can be made of, and RunsFailed after the last if some failed."""
    if place.resume is not None:
        # Whoever finds a result later may want to know where pods went.
        matrix = dataclasses.replace(matrix, all_places=True)
    runner = MatrixRunner(_SharedMatrix(matrix, ""))
    runner.require_buildable()
    directory = None
    if place.resume is not None:
        runner.require_repeatable()
        directory = ResultDirectory(place.resume)
    positions = [
        RunPosition(number, configuration, turn)
        for number in range(len(matrix.inputs))
        for turn in range(len(matrix.seeds))
        for configuration in range(len(matrix.configurations))
    ]
    sweep = Sweep(
        MatrixRunner,
        _SharedMatrix(matrix, runner.code),
        RunOutcome,
        tuple(_plan(matrix, runner.code, positions)),
    )
    ended = execute_sweep(sweep, place.executor, directory, place.on_ended)
    for run in collect_finished(ended):
        position: RunPosition = run.run.arguments
        found = run.result
        measured = MeasuredRun(
            position.configuration,
            matrix.seeds[position.turn],
            found.metrics,
            found.places,
            found.crashes,
            position.input,
            found.waits,
            found.loads,
        )
        yield EndedRun(run.run.key, position, measured, found.review)


def _plan(matrix: RunMatrix, code: str, positions: Sequence[RunPosition]) -> Iterator[PlannedRun]:
    settings = digest_values(
        code, repr(matrix.gates), str(matrix.plugin_timeout_s), matrix.validate
    )
    inputs = [_digest_input(each) for each in matrix.inputs]
    configurations = [
        digest_values(each.configuration, each.plugins) for each in matrix.configurations
    ]
    for position in positions:
        seed = matrix.seeds[position.turn]
        named = matrix.configurations[position.configuration].name
        where = f"{matrix.inputs[position.input].name}, " if len(matrix.inputs) > 1 else ""
        key = digest_values(
            settings,
            inputs[position.input],
            configurations[position.configuration],
            seed,
            position.turn > 0,
        )
        yield PlannedRun(key, f"{where}{named}, seed {seed}", position)


def _digest_input(given: NamedInput | NamedScenario) -> str:
    if isinstance(given, NamedScenario):
        return digest_values(
            given.digest, "" if given.cluster is None else _digest_cluster(given.cluster)
        )
    prices = {name: str(price) for name, price in given.yardstick.prices.items()}
    return digest_values(_digest_cluster(given.scenario), given.yardstick.typical_pod, prices)


def _digest_cluster(scenario: Scenario) -> str:
    objects = [(type(each).__name__, each) for each in scenario.objects]
    return digest_values(dataclasses.replace(scenario, objects=()), objects)


@dataclass(frozen=True, slots=True)
class _SharedMatrix:
    """What workers get. `code` is the digest of users' code that is wanted, "" for any."""

    matrix: RunMatrix
    code: str


class MatrixRunner:
    """Makes runs of one matrix. Raises InputError if code of the user's is not what it was where
    the runs were planned."""

    def __init__(self, shared: _SharedMatrix) -> None:
        self._matrix = matrix = shared.matrix
        limit_calls(matrix.plugin_timeout_s)
        self._scenarios: dict[int, ScenarioFile] = {}
        self._equipped = self._equip()
        if shared.code not in ("", self.code):
            # A worker that lives on may have loaded these files when they were others.
            self._equipped = self._equip(anew=True)
            if shared.code != self.code:
                plugins = {name for each in matrix.configurations for name in each.plugins}
                named = ", ".join(sorted(plugins)) or "a plugin of an installed package"
                raise InputError(f"{named}: the code here is not that where runs were planned")

    def _equip(self, *, anew: bool = False) -> list[Equipped]:
        configurations = self._matrix.configurations
        plugins = {spec for each in configurations for spec in each.plugins}
        with loaded_anew(plugins) if anew else nullcontext():
            return [
                equip(each.configuration, in_tree_registry(), each.plugins)
                for each in configurations
            ]

    @property
    def code(self) -> str:
        """The digest of users' code that is loaded."""
        return digest_code(
            equipped.registry.get(name) for equipped in self._equipped for name in equipped.registry
        )

    def require_buildable(self) -> None:
        """Raises InputError for a configuration that no scheduler can be made of."""
        for index in range(len(self._equipped)):
            with self._name_in_errors(index):
                self._build(index, _NOTHING, 0)

    def require_repeatable(self) -> None:
        """Raises InputError for a configuration whose decisions depend on others' answers."""
        for index, named in enumerate(self._matrix.configurations):
            engine = self._build(index, _NOTHING, 0).engine
            asked = "extenders" if named.configuration.extenders else ""
            if asked or len(engine.sources):
                raise InputError(
                    f"asks {asked or 'sources of measurements'}, whose answers may be others next "
                    "time: its runs cannot be kept",
                    source=named.name,
                    remedy="leave --resume out",
                )

    @contextmanager
    def _name_in_errors(self, index: int) -> Iterator[None]:
        try:
            yield
        except ConfigurationError as problem:
            name = self._matrix.configurations[index].name
            raise problem.found_in(name) from problem.__cause__

    def _build(self, index: int, scenario: Scenario, seed: int) -> Simulation:
        configuration, registry, notes = self._equipped[index]
        return Simulation(
            dataclasses.replace(scenario, notes=(*scenario.notes, *notes)),
            configuration,
            registry,
            seed=seed,
            gates=self._matrix.gates,
            validate=self._matrix.validate,
        )

    def _read_scenario(self, number: int, given: NamedScenario) -> ScenarioFile:
        if number not in self._scenarios:
            self._scenarios[number] = given.read()
        return self._scenarios[number]

    def __call__(self, position: RunPosition) -> RunOutcome:
        """One configuration with the arrivals of one seed."""
        given = self._matrix.inputs[position.input]
        seed = self._matrix.seeds[position.turn]
        if isinstance(given, NamedScenario):
            with self._name_in_errors(position.configuration):
                return measure_scenario(
                    self._read_scenario(position.input, given),
                    given.cluster,
                    self._equipped[position.configuration],
                    seed=seed,
                    gates=self._matrix.gates,
                    validate=self._matrix.validate,
                    all_places=self._matrix.all_places,
                )
        is_first = not position.turn
        scenario = given.scenario if is_first else shuffle_arrivals(given.scenario, seed)
        with self._name_in_errors(position.configuration):
            simulation = self._build(position.configuration, scenario, seed)
            with asker_of(simulation.engine) as ask:
                report = simulation.run(ask=ask)
        return RunOutcome(
            measure_run(report, scenario, given.yardstick),
            places_of(report) if is_first or self._matrix.all_places else (),
            tuple((result.key, result.crash) for result in report.pods if result.crash),
            review_of(report) if is_first else None,
            wait_quantiles(waiting_times(report)),
            loads_of(report) if is_first else None,
        )


def shuffle_arrivals(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with pending pods in an order that follows from the seed."""
    chance = random.Random(seed)
    # Of a generator only random() gives the same numbers in every release of Python.
    keyed = [(chance.random(), at) for at in range(len(scenario.pending))]
    pending = tuple(scenario.pending[at] for _, at in sorted(keyed))
    return dataclasses.replace(scenario, pending=pending)


_RUN: Final = (
    Column("run", "int64"),
    Column("input", "string"),
    Column("configuration", "string"),
    Column("seed", "int64"),
)
RUN_COLUMNS: Final = (*_RUN, Column("key", "string"))
POD_COLUMNS: Final = (
    *_RUN,
    Column("namespace", "string"),
    Column("pod", "string"),
    Column("outcome", "string"),
    Column("node", "string"),
    Column("waiting_s", "double"),
)


class RunTables:
    """Takes runs in their order."""

    def __init__(self, matrix: RunMatrix, pods: Sequence[Table]) -> None:
        self._inputs = [each.name for each in matrix.inputs]
        self._configurations = [each.name for each in matrix.configurations]
        self._pods = pods
        self._runs: list[tuple[str, MeasuredRun]] = []

    def add(self, ended: EndedRun) -> None:
        run = ended.measured
        row = self._row(len(self._runs), run)
        self._runs.append((ended.key, run.without_places()))
        for table in self._pods:
            table.append(
                (*row, *_split(place.pod), place.outcome, place.node or None, place.waiting_s)
                for place in run.places
            )

    def run_columns(self) -> tuple[Column, ...]:
        metrics = list_metrics([run for _, run in self._runs])
        return (*RUN_COLUMNS, *(Column(name, "double") for name in metrics))

    def run_rows(self) -> Iterator[Row]:
        """A metric that no run of an input has is not there; one that some have is 0 elsewhere."""
        metrics = list_metrics([run for _, run in self._runs])
        known = {(run.input, name) for _, run in self._runs for name in run.metrics}
        for number, (key, run) in enumerate(self._runs):
            values = (
                run.metrics.get(name, 0.0) if (run.input, name) in known else None
                for name in metrics
            )
            yield (*self._row(number, run), key, *values)

    def _row(self, number: int, run: MeasuredRun) -> tuple[int, str, str, int]:
        configuration = self._configurations[run.configuration]
        return (number, self._inputs[run.input], configuration, run.seed)


@contextmanager
def open_run_tables(
    matrix: RunMatrix, wanted: Sequence[tuple[Path, TableFormat]]
) -> Iterator[RunTables]:
    """Tables in directories, which are whole when the context ends. Raises InputError."""
    with ExitStack() as stack:
        pods = [
            stack.enter_context(open_table(directory, "pods", POD_COLUMNS, form))
            for directory, form in wanted
        ]
        tables = RunTables(matrix, pods)
        yield tables
        for directory, form in wanted:
            with open_table(directory, "runs", tables.run_columns(), form) as runs:
                runs.append(tables.run_rows())


def _split(pod: str) -> tuple[str, str]:
    namespace, _, name = pod.partition("/")
    return namespace, name
