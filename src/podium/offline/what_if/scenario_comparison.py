"""The same scenario under several configurations: what arrives and fails is the same for all.

Runs with further seeds have other arrivals, again the same for every configuration, so that what
differs is told with the probability that chance alone makes it.
"""

from collections.abc import Callable, Sequence

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioFile, run_scenario
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import MeasuredRun
from podium.scheduler.config.errors import ConfigurationError
from podium.user_code.plugins import Equipped

Named = tuple[str, Equipped]
"""A configuration and its name."""


def compare_scenario(
    file: ScenarioFile,
    configurations: Sequence[Named],
    gates: FeatureGates,
    seeds: tuple[int, ...],
    *,
    until_s: float | None = None,
    scale: float = 1.0,
    on_run: Callable[[], None] = lambda: None,
) -> ComparisonAnswer:
    """All runs, one after the other. Raises InputError."""
    runs = []
    for seed in seeds:
        for index, (name, equipped) in enumerate(configurations):
            try:
                ran = run_scenario(
                    file,
                    equipped.configuration,
                    equipped.registry,
                    seed=seed,
                    gates=gates,
                    until_s=until_s,
                    scale=scale,
                )
            except ConfigurationError as problem:
                raise problem.found_in(name) from problem.__cause__
            runs.append(MeasuredRun(index, seed, ran.metrics, (), ran.report.crashes))
            on_run()
    return ComparisonAnswer(tuple(name for name, _ in configurations), seeds, tuple(runs))
