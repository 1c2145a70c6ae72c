"""What several schedulers needed for the same workload, and how they compare.

Schedulers take turns, so that each pair of runs had about the same machine to itself; a ratio is
told with those of all pairs, lowest and highest.
"""

from typing import Any

import msgspec

from podium.bench.figures import Figures, Result
from podium.bench.results import to_document


class LiveResult(Result, kw_only=True):
    """All runs of one scheduler with one workload."""

    scheduler: str

    @property
    def cpu_ms(self) -> float:
        """The scheduler's processor time per pod, of the run that needed least."""
        return min(cpu_ms(run) for run in self.runs)


class Ratio(msgspec.Struct, kw_only=True, frozen=True):
    """One scheduler's figure for each one of another: of the best runs, and of pairs of runs."""

    best: float
    lowest: float
    highest: float


class LiveComparison(msgspec.Struct, kw_only=True, frozen=True):
    workload: str
    scheduler: str
    to: str
    pods_per_s: Ratio
    cpu: Ratio


def cpu_ms(run: Figures) -> float:
    """Processor time per bound pod."""
    return 1000 * run.cpu_seconds / max(1, run.bound)


def compare_live(ours: LiveResult, other: LiveResult) -> LiveComparison:
    pairs = list(zip(ours.runs, other.runs, strict=True))
    return LiveComparison(
        workload=ours.workload,
        scheduler=ours.scheduler,
        to=other.scheduler,
        pods_per_s=_ratio(
            ours.best.pods_per_s / _some(other.best.pods_per_s),
            [mine.pods_per_s / _some(others.pods_per_s) for mine, others in pairs],
        ),
        cpu=_ratio(
            ours.cpu_ms / _some(other.cpu_ms),
            [cpu_ms(mine) / _some(cpu_ms(others)) for mine, others in pairs],
        ),
    )


def live_document(
    results: list[LiveResult], comparisons: list[LiveComparison]
) -> dict[str, list[dict[str, Any]]]:
    """Everything as plain data."""
    return {
        "results": [
            {
                "scheduler": result.scheduler,
                **to_document(result),
                "cpu_ms_per_pod": round(result.cpu_ms, 4),
                "cpu_ms_per_pod_runs": [round(cpu_ms(run), 4) for run in result.runs],
            }
            for result in results
        ],
        "compared": [msgspec.to_builtins(each) for each in comparisons],
    }


def _ratio(best: float, pairs: list[float]) -> Ratio:
    return Ratio(best=round(best, 3), lowest=round(min(pairs), 3), highest=round(max(pairs), 3))


def _some(figure: float) -> float:
    """A figure to divide by."""
    return figure or 1e-9
