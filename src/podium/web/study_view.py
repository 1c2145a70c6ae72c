"""A study of GPU packing as its report shows it: curves over demand, tables, and differences to
whichever policy one chooses.

Contract: bounded by policies and traces, however many seeds there are.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated, ClassVar

from msgspec import Meta

from podium.addons.gpu.study.results import (
    PolicySummary,
    RunResult,
    SummaryCell,
    list_cells,
    summarize,
)
from podium.golang.document_structs import Amount, Count, Document, DocumentPart, Notes

Cells = Sequence[float | None]
CurveCells = Annotated[
    tuple[float | None, ...],
    Meta(description="At 0, 1, 2 and so on % of the cluster's GPUs asked for."),
]


class StudyCurve(DocumentPart, frozen=True):
    """A figure over demand: at 0, 1, 2 and so on % of the cluster's GPUs asked for."""

    mean: CurveCells
    """Over seeds."""
    lowest: CurveCells
    """Of all seeds."""
    highest: CurveCells
    """Of all seeds."""


class StudyPolicy(DocumentPart, frozen=True):
    """One policy on one trace."""

    policy: str
    """Its name, of a user's policy the function's."""
    seeds: Count
    """How many the means are over."""
    placed_part: Amount
    """Pods that found a node, of all that were offered."""
    allocation: StudyCurve
    """GPU in use, % of the cluster's."""
    fragmentation: StudyCurve
    """GPU that typical pods cannot use, % of what is idle."""
    allocation_percent: tuple[SummaryCell, ...]
    """GPU in use, % of the cluster's."""
    fragmentation_ratio_percent: tuple[SummaryCell, ...]
    """GPU that typical pods cannot use, % of what is idle."""
    gain_points: Mapping[str, tuple[SummaryCell, ...]]
    """Difference of allocation to each other policy, seed by seed."""


class StudyTrace(DocumentPart, frozen=True):
    """One trace with all policies."""

    name: str
    """The name of the file with its pods."""
    policies: tuple[StudyPolicy, ...]
    """One for each policy."""


class GPUPackingStudyView(Document, frozen=True):
    """How policies pack pods that share GPUs, for the report of
    `podium study gpu-packing --html`."""

    KIND: ClassVar[str] = "GPUPackingStudyView"

    baseline: str
    """The policy that others are compared with at first."""
    shown_percent: tuple[Count, ...]
    """GPU that was asked for so far, % of the cluster's: the columns of tables."""
    runs: Count
    """How many there are."""
    seeds: tuple[Count, ...]
    """Those of all runs."""
    traces: tuple[StudyTrace, ...]
    """One for each trace."""
    notes: Notes


def study_view(
    results: Sequence[RunResult], baseline: str, shown: Sequence[int], notes: Sequence[str]
) -> GPUPackingStudyView:
    """`shown` are the percentages of demand that tables have columns for."""
    policies = list(dict.fromkeys(run.policy for run in results))
    by_base = {base: summarize(results, base, shown) for base in policies}
    first = by_base[policies[0]]
    return GPUPackingStudyView(
        baseline if baseline in policies else policies[0],
        tuple(shown),
        len(results),
        tuple(sorted({run.seed for run in results})),
        tuple(
            StudyTrace(
                trace,
                tuple(
                    _policy(at, by_base, [run for run in results if _is_of(run, first[at])])
                    for at, summary in enumerate(first)
                    if summary.trace == trace
                ),
            )
            for trace in dict.fromkeys(run.trace for run in results)
        ),
        tuple(notes),
    )


def _is_of(run: RunResult, summary: PolicySummary) -> bool:
    return (run.trace, run.policy) == (summary.trace, summary.policy)


def _policy(
    at: int, by_base: Mapping[str, Sequence[PolicySummary]], runs: Sequence[RunResult]
) -> StudyPolicy:
    summary = next(iter(by_base.values()))[at]
    return StudyPolicy(
        summary.policy,
        len(summary.seeds),
        round(summary.placed_part, 6),
        _curve([run.allocation_percent for run in runs]),
        _curve([run.fragmentation_ratio_percent for run in runs]),
        list_cells(summary.allocation),
        list_cells(summary.fragmentation_ratio),
        {
            base: list_cells(summaries[at].allocation_gain)
            for base, summaries in by_base.items()
            if base != summary.policy
        },
    )


def _curve(runs: Sequence[Cells]) -> StudyCurve:
    """Over seeds, at each percentage of demand."""
    columns = [[value for value in cells if value is not None] for cells in zip(*runs, strict=True)]
    return StudyCurve(
        tuple(round(fmean(values), 3) if values else None for values in columns),
        tuple(min(values, default=None) for values in columns),
        tuple(max(values, default=None) for values in columns),
    )
