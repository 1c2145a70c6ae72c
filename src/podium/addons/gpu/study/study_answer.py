"""What a study of GPU packing comes to: the document with its runs and their means."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from podium.addons.gpu.study.results import PolicySummary, RunResult, SummaryCell, list_cells
from podium.golang.document_structs import Amount, Count, Document, DocumentPart, Notes

Bounds = Mapping[str, Mapping[int, float]]
"""Trace -> % asked for -> % that can be allocated at most."""


class PolicyMeans(DocumentPart, frozen=True):
    """One policy on one trace."""

    trace: str
    """The name of the file with its pods."""
    policy: str
    """Its name, of a user's policy the function's."""
    seeds: tuple[Count, ...]
    """What the means are over."""
    placed_part: Amount
    """Pods that found a node, of all that were offered."""
    allocation_percent: tuple[SummaryCell, ...]
    """GPU in use, % of the cluster's."""
    fragmentation_ratio_percent: tuple[SummaryCell, ...]
    """GPU that typical pods cannot use, % of what is idle."""
    allocation_gain_points: tuple[SummaryCell, ...]
    """Difference of allocation to the baseline, seed by seed; empty for the baseline and without
    it."""

    @classmethod
    def of(cls, summary: PolicySummary) -> "PolicyMeans":
        return cls(
            summary.trace,
            summary.policy,
            summary.seeds,
            round(summary.placed_part, 6),
            list_cells(summary.allocation),
            list_cells(summary.fragmentation_ratio),
            list_cells(summary.allocation_gain),
        )


class BoundCell(DocumentPart, frozen=True):
    """A bound at one percentage of demand."""

    arrived_percent: int
    """% of the GPUs asked for so far."""
    mean: float
    """The bound."""


class TraceBound(DocumentPart, frozen=True):
    """What no policy can allocate more of on one trace."""

    trace: str
    """The name of the trace."""
    allocation_percent: tuple[BoundCell, ...]
    """% of the cluster's GPUs, as a mean over seeds."""


class StudyAnswer(Document, frozen=True):
    """What `podium study gpu-packing` prints: how policies pack pods that share GPUs, run by run
    and as means over seeds."""

    KIND: ClassVar[str] = "GPUPackingStudy"

    policies: tuple[PolicyMeans, ...]
    """One for each trace and policy."""
    runs: tuple[RunResult, ...]
    """Every run."""
    notes: Notes
    bounds: tuple[TraceBound, ...]
    """What no policy can allocate more of, by trace, if that was asked for."""


def study_answer(
    results: Sequence[RunResult],
    summaries: Sequence[PolicySummary],
    bounds: Bounds,
    notes: Iterable[str],
) -> StudyAnswer:
    return StudyAnswer(
        tuple(map(PolicyMeans.of, summaries)),
        tuple(results),
        tuple(notes),
        tuple(
            TraceBound(
                trace,
                tuple(BoundCell(percent, round(bound, 4)) for percent, bound in cells.items()),
            )
            for trace, cells in bounds.items()
        ),
    )
