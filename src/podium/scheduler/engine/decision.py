"""A decision as a value: everything one attempt found out and did.

The arrays that filtering and scoring produced are kept as they are; names, reasons and texts are
built when somebody reads them. Explanations, recorded cases, events and reports all read this one
record.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from podium.golang.document_structs import Count, DocumentPart
from podium.scheduler.cluster.growth import Ints, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.consulted import Consulted, summary
from podium.scheduler.framework.asking import Answers, Calls
from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult
from podium.scheduler.framework.filtering import PreFilterOutcome
from podium.scheduler.framework.points import PostFilterResult
from podium.scheduler.framework.scoring import PluginScores
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.framework.totals import best_rows
from podium.scheduler.framework.versions import Column, read

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
