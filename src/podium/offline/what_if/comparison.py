"""The same arrivals under several configurations: all runs, and what they come to together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.errors import InputError
from podium.offline.sweeps.executors import LocalProcesses
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import InputReview, MeasuredRun
from podium.offline.what_if.run_matrix import EndedRun, RunMatrix, RunPlace, make_runs

DEFAULT: Final = "default"
"""What stands for kube-scheduler's defaults in place of a file."""


@dataclass(frozen=True, slots=True)
class ReviewedComparison:
    """`review` is that of the very first run."""

    answer: ComparisonAnswer
    review: InputReview


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
    if seeds < 1 or jobs < 0:
        raise InputError("seeds must be at least 1, and jobs too, or 0 for all cores")
    return tuple(range(first, first + seeds))


def run_comparison(
    matrix: RunMatrix,
    place: RunPlace | None = None,
    on_run: Callable[[EndedRun], None] = lambda _: None,
) -> ReviewedComparison:
    """All runs of the one input; `on_run` is given them in order."""
    runs: list[MeasuredRun] = []
    review = InputReview()
    for ended in make_runs(matrix, place or RunPlace(LocalProcesses(1))):
        on_run(ended)
        run, position = ended.measured, ended.position
        if not runs and ended.review is not None:
            review = ended.review
        # Where each pod goes is told of the first seed.
        runs.append(run.without_places() if position.turn else run)
    names = tuple(each.name for each in matrix.configurations)
    return ReviewedComparison(ComparisonAnswer(names, matrix.seeds, tuple(runs)), review)
