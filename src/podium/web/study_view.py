"""A study of GPU packing as its report shows it: curves over demand, tables, and differences to
whichever policy one chooses.

Contract: bounded by policies and traces, however many seeds there are.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from podium.addons.gpu.study.results import PolicySummary, RunResult, cells_document, summarize

Cells = Sequence[float | None]


def study_view(
    results: Sequence[RunResult], baseline: str, shown: Sequence[int], notes: Sequence[str]
) -> dict[str, Any]:
    """`shown` are the percentages of demand that tables have columns for."""
    policies = list(dict.fromkeys(run.policy for run in results))
    by_base = {base: summarize(results, base, shown) for base in policies}
    first = by_base[policies[0]]
    return {
        "baseline": baseline if baseline in policies else policies[0],
        "shownPercent": list(shown),
        "runs": len(results),
        "seeds": sorted({run.seed for run in results}),
        "traces": [
            {
                "name": trace,
                "policies": [
                    _policy(at, by_base, [run for run in results if _is_of(run, first[at])])
                    for at, summary in enumerate(first)
                    if summary.trace == trace
                ],
            }
            for trace in dict.fromkeys(run.trace for run in results)
        ],
        "notes": list(notes),
    }


def _is_of(run: RunResult, summary: PolicySummary) -> bool:
    return (run.trace, run.policy) == (summary.trace, summary.policy)


def _policy(
    at: int, by_base: Mapping[str, Sequence[PolicySummary]], runs: Sequence[RunResult]
) -> dict[str, Any]:
    summary = next(iter(by_base.values()))[at]
    return {
        "policy": summary.policy,
        "seeds": len(summary.seeds),
        "placedPart": round(summary.placed_part, 6),
        "allocation": _curve([run.allocation_percent for run in runs]),
        "fragmentation": _curve([run.fragmentation_ratio_percent for run in runs]),
        "allocationPercent": cells_document(summary.allocation),
        "fragmentationRatioPercent": cells_document(summary.fragmentation_ratio),
        "gainPoints": {
            base: cells_document(summaries[at].allocation_gain)
            for base, summaries in by_base.items()
            if base != summary.policy
        },
    }


def _curve(runs: Sequence[Cells]) -> dict[str, list[float | None]]:
    """Over seeds, at each percentage of demand."""
    columns = [[value for value in cells if value is not None] for cells in zip(*runs, strict=True)]
    return {
        "mean": [round(fmean(values), 3) if values else None for values in columns],
        "lowest": [min(values, default=None) for values in columns],
        "highest": [max(values, default=None) for values in columns],
    }
