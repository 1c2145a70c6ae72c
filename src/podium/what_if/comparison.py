"""The same arrivals under several configurations: all runs, on one core or on several.

The first run of each configuration has the pods in the order of the input. Runs with further seeds
have them in an order that the seed decides, the same for every configuration, and choose otherwise
between equal nodes. What a run gives depends on its configuration and seed alone, not on where it
is done: a process that takes part gets the scenario and makes everything else anew.
"""

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from podium.api.errors import InputError
from podium.config.errors import ConfigurationError
from podium.config.feature_gates import FeatureGates
from podium.config.types import Configuration
from podium.extenders.asking_offline import asker_of
from podium.plugins import in_tree_registry
from podium.simulator.report import PodResult, SimulationReport
from podium.simulator.run import Simulation
from podium.simulator.scenario import Scenario
from podium.user_code.plugins import equip
from podium.user_code.time_limits import limit_calls
from podium.what_if.comparison_answer import ComparisonAnswer, MeasuredRun, PodPlace
from podium.what_if.run_metrics import Yardstick, measure_run, wait_quantiles

DEFAULT: Final = "default"
"""What stands for kube-scheduler's defaults in place of a file."""


@dataclass(frozen=True, slots=True)
class NamedConfiguration:
    """`name` is that of its file, or `default`."""

    name: str
    configuration: Configuration
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonQuestion:
    """`plugin_timeout_s` is what a call into a user's plugin may take, 0 for no limit."""

    scenario: Scenario
    configurations: tuple[NamedConfiguration, ...]
    gates: FeatureGates
    yardstick: Yardstick
    seeds: tuple[int, ...] = (0,)
    plugin_timeout_s: float = 0.0
    validate: bool = False


def require_configs(configs: Sequence[str]) -> None:
    """Raises InputError."""
    if not configs:
        raise InputError(
            "no configuration to compare", remedy=f"--config FILE, or --config {DEFAULT}"
        )
    if len({*configs}) < len(configs):
        raise InputError("the same configuration is there twice")


def plan_seeds(first: int, seeds: int, jobs: int) -> tuple[int, ...]:
    """Raises InputError."""
    if seeds < 1 or jobs < 1:
        raise InputError("seeds and jobs must be at least 1")
    return tuple(range(first, first + seeds))


def run_comparison(
    question: ComparisonQuestion,
    *,
    jobs: int = 1,
    on_run: Callable[[], None] = lambda: None,
    on_report: Callable[[SimulationReport], None] = lambda _: None,
) -> ComparisonAnswer:
    """All runs, in `jobs` processes; `on_report` is given the very first report."""
    runner = _Runner(question)
    runner.require_buildable()
    wanted = [
        (index, turn)
        for turn in range(len(question.seeds))
        for index in range(len(question.configurations))
    ]
    report, first = runner.simulate(*wanted[0])
    on_report(report)
    on_run()
    runs = [first]
    for run in _run_all(question, runner, wanted[1:], jobs):
        runs.append(run)
        on_run()
    names = tuple(each.name for each in question.configurations)
    return ComparisonAnswer(names, question.seeds, tuple(runs))


def _run_all(
    question: ComparisonQuestion, runner: "_Runner", wanted: Sequence[tuple[int, int]], jobs: int
) -> Iterator[MeasuredRun]:
    """In the order in which they are wanted."""
    workers = min(jobs, len(wanted))
    if workers <= 1:
        for each in wanted:
            yield runner.simulate(*each)[1]
        return
    with ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_begin, initargs=(question,)
    ) as pool:
        try:
            yield from pool.map(_run_one, wanted)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_runner: "_Runner | None" = None
"""Of a process that takes part."""


def _begin(question: ComparisonQuestion) -> None:
    global _runner  # noqa: PLW0603
    limit_calls(question.plugin_timeout_s)
    _runner = _Runner(question)


def _run_one(wanted: tuple[int, int]) -> MeasuredRun:
    if _runner is None:
        raise AssertionError("a process that takes part begins with the question")
    return _runner.simulate(*wanted)[1]


class _Runner:
    """Makes runs of one question."""

    def __init__(self, question: ComparisonQuestion) -> None:
        self._question = question
        self._equipped = [
            equip(each.configuration, in_tree_registry(), each.plugins)
            for each in question.configurations
        ]

    def require_buildable(self) -> None:
        """Raises InputError for a configuration that no scheduler can be made of."""
        for index in range(len(self._equipped)):
            with self._named(index):
                self._build(index, Scenario((), (), ()), 0)

    @contextmanager
    def _named(self, index: int) -> Iterator[None]:
        try:
            yield
        except ConfigurationError as problem:
            name = self._question.configurations[index].name
            raise problem.found_in(name) from problem.__cause__

    def _build(self, index: int, scenario: Scenario, seed: int) -> Simulation:
        configuration, registry, notes = self._equipped[index]
        return Simulation(
            dataclasses.replace(scenario, notes=(*scenario.notes, *notes)),
            configuration,
            registry,
            seed=seed,
            gates=self._question.gates,
            validate=self._question.validate,
        )

    def simulate(self, index: int, turn: int) -> tuple[SimulationReport, MeasuredRun]:
        """One configuration with the arrivals of one seed."""
        question = self._question
        seed = question.seeds[turn]
        scenario = question.scenario
        if turn:
            scenario = shuffle_arrivals(scenario, seed)
        with self._named(index):
            simulation = self._build(index, scenario, seed)
            with asker_of(simulation.engine) as ask:
                report = simulation.run(ask=ask)
        measured = MeasuredRun(
            index,
            seed,
            measure_run(report, scenario, question.yardstick),
            # Where each pod goes is told of the first seed.
            _places(report) if not turn else (),
            tuple((result.key, result.crash) for result in report.pods if result.crash),
            wait_quantiles(report),
            report.utilisation.after if not turn else None,
        )
        return report, measured


def _places(report: SimulationReport) -> tuple[PodPlace, ...]:
    return tuple(
        PodPlace(result.key, result.outcome.value, result.node, _why(result))
        for result in report.pods
    )


def _why(result: PodResult) -> str:
    """Briefly, from what is kept of each pod's last attempt."""
    digest = result.digest
    if not result.placed:
        return result.message
    if digest.runner_up:
        return f"{digest.decided_by} puts it {digest.lead:,} ahead of {digest.runner_up}"
    if digest.tied_nodes > 1:
        return f"one of {digest.tied_nodes:,} equally good nodes"
    return "the only node that fits" if digest.feasible_nodes == 1 else ""


def shuffle_arrivals(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with pending pods in an order that follows from the seed."""
    chance = random.Random(seed)
    # Of a generator only random() gives the same numbers in every release of Python.
    keyed = [(chance.random(), at) for at in range(len(scenario.pending))]
    pending = tuple(scenario.pending[at] for _, at in sorted(keyed))
    return dataclasses.replace(scenario, pending=pending)
