"""A decision as a value: everything one attempt found out and did, extenders included.

The arrays that filtering and scoring produced are kept as they are; names, reasons and texts are
built when somebody reads them. Explanations, recorded cases, events and reports all read this one
record.

Which extenders were asked during an attempt, and what came of it, in a line each. What an extender
said about single nodes is kept with the verdicts and scores of plugins; this is for the questions
that those cannot answer: who was asked at all, who failed and was ignored.
"""

from collections.abc import Sequence
from typing import NamedTuple, assert_never

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from podium.golang.document_structs import Count, DocumentPart
from podium.scheduler.cluster.growth import Ints, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.asking import (
    Answers,
    BindAnswer,
    BindCall,
    CallFailed,
    Calls,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    PreemptAnswer,
    PreemptCall,
    PrioritizeAnswer,
    PrioritizeCall,
)
from podium.scheduler.framework.caches.columns import Column, read
from podium.scheduler.framework.caches.totals import best_rows
from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult
from podium.scheduler.framework.filtering import PreFilterOutcome
from podium.scheduler.framework.points import PostFilterResult
from podium.scheduler.framework.scoring import PluginScores
from podium.scheduler.framework.status import Code, Status

Answered = FilterAnswer | PrioritizeAnswer | PreemptAnswer | BindAnswer


class Consulted(NamedTuple):
    """`asked` counts the nodes it was about; `kept` those that a filter left, that were given a
    score, or that may be cleared. `ignored` says of a problem that it changed nothing else."""

    url_prefix: str
    verb: str
    asked: int
    kept: int = 0
    problem: str = ""
    ignored: bool = False


def summary(call: ExtenderCall, answer: ExtenderAnswer) -> Consulted:
    extender = call.extender
    match call:
        case FilterCall():
            verb, asked = extender.filter_verb, len(call.nodes)
        case PrioritizeCall():
            verb, asked = extender.prioritize_verb, len(call.nodes)
        case PreemptCall():
            verb, asked = extender.preempt_verb, len(call.victims)
        case BindCall():
            verb, asked = extender.bind_verb, 1
        case _:
            assert_never(call)
    if isinstance(answer, CallFailed):
        ignored = extender.ignorable or isinstance(call, PrioritizeCall)
        return Consulted(extender.url_prefix, verb, asked, 0, answer.problem, ignored)
    return Consulted(extender.url_prefix, verb, asked, _count_kept(call, answer))


def _count_kept(call: ExtenderCall, answer: Answered) -> int:
    match answer:
        case FilterAnswer():
            named = answer.node_names if call.extender.node_cache_capable else None
            return len(named if named is not None else answer.nodes or ())
        case PrioritizeAnswer():
            return len({host for host, _ in answer.scores})
        case PreemptAnswer():
            return len(answer.victims)
        case BindAnswer():
            return 1
    assert_never(answer)


_NO_ROWS: npt.NDArray[np.intp] = np.zeros(0, dtype=np.intp)
_NO_ROWS.flags.writeable = False


def _no_rows() -> npt.NDArray[np.intp]:
    return _NO_ROWS


class NodeScore(DocumentPart, frozen=True):
    """One plugin's score of one node."""

    raw: int
    """As the plugin gave it."""
    normalized: Count
    """After its normalization, 0 to 100."""
    weighted: int
    """Normalized times the plugin's weight."""


class Decision(Struct):
    """One attempt for one pod.

    `node_names` is indexed by row and belongs to the attempt: later changes of the cluster do not
    touch it. `feasible` are rows; scores and total are aligned with it. `consulted` are the
    extenders that were asked, `dropped` the nodes that passed all filters and that one of them took
    away, by name. `broken_by` is the plugin that broke at Reserve or Permit.
    """

    pod: PodInfo
    profile: str
    node_names: Sequence[str]
    attempt: int = 1
    pre_enqueue: Status | None = None
    pre_filter: PreFilterOutcome | None = None
    diagnosis: Diagnosis | None = None
    feasible: npt.NDArray[np.intp] = field(default_factory=_no_rows)
    pre_score_skipped: list[str] = field(default_factory=list)
    scores: list[PluginScores] = field(default_factory=list)
    totals: Column | None = None
    chosen: str | None = None
    bound: str | None = None
    message: str | None = None
    is_error: bool = False
    refused_by: Status | None = None
    broken_by: str = ""
    waits_s: dict[str, float] = field(default_factory=dict)
    post_filter: PostFilterResult | None = None
    nominated_node: str | None = None
    durations_s: dict[str, float] = field(default_factory=dict)
    consulted: list[Consulted] = field(default_factory=list)
    dropped: dict[str, Status] = field(default_factory=dict)

    @property
    def total(self) -> Ints | None:
        """Weighted totals of the feasible rows; None where nothing was scored."""
        if self.totals is None:
            return None
        self.totals = read(self.totals)
        return self.totals

    @property
    def best_rows(self) -> npt.NDArray[np.intp]:
        """The feasible rows among which one was chosen; none if that never happened."""
        if self.chosen is None:
            return _no_rows()
        total = self.total
        return self.feasible if total is None else best_rows(total, self.feasible)

    @property
    def best(self) -> list[str]:
        """Names of the nodes with the highest total, sorted."""
        return sorted(self.node_names[row] for row in self.best_rows)

    def note_consulted(self, calls: Calls, answers: Answers) -> None:
        """Remember what extenders were asked, and what they made of it."""
        self.consulted.extend(map(summary, calls, answers))

    @property
    def results(self) -> list[FilterResult]:
        return self.diagnosis.results if self.diagnosis else []

    def filter_statuses(self) -> dict[str, Status | None]:
        """Node name -> why it was rejected, None if it passed; nodes that were looked at only."""
        found: dict[str, Status | None] = {**self.dropped}
        for result in self.results:
            for position, row in enumerate(indices(result.rows)):
                found.setdefault(self.node_names[row], result.status(position))
        return found

    def node_scores(self, position: int) -> dict[str, NodeScore]:
        """Plugin -> score of the feasible node at a position of `feasible`."""
        return {
            s.plugin: NodeScore(
                int(s.raw[position]),
                int(s.normalized[position]),
                int(s.normalized[position]) * s.weight,
            )
            for s in self.scores
        }

    @property
    def nbytes(self) -> int:
        """About how much memory the arrays take."""
        columns = 1 + (self.totals is not None) + 2 * len(self.scores)
        taken = 1024 + columns * 8 * len(self.feasible)
        for result in self.results:
            taken += result.nbytes
        return taken

    @property
    def rejectors(self) -> set[str]:
        """Plugins whose change of mind may help; empty when something broke."""
        if self.is_error:
            return set()
        if self.refused_by is not None:
            return {self.refused_by.plugin}
        return self.diagnosis.rejectors if self.diagnosis else set()

    @property
    def pending_plugins(self) -> set[str]:
        if self.refused_by is not None and self.refused_by.code is Code.PENDING:
            return {self.refused_by.plugin}
        return self.diagnosis.pending if self.diagnosis and not self.is_error else set()

    @property
    def scheduled(self) -> bool:
        return self.bound is not None
