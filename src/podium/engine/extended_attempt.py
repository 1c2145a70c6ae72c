"""The scheduling cycle where extenders have a say.

    PreFilter ▶ Filter ▶ extenders filter ─┬─▶ PreScore ▶ Score ▶ extenders score ▶ choose
                   │                       │
                   └──── no node ──────────┴─▶ PostFilter, which may ask extenders too

It is the way of `attempt.py` with places to wait in it, so that an engine without extenders pays
nothing for them. A cycle works on the cluster as it was when it began: whoever waits with it keeps
changes back until it has ended (`latecomers.py`).
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from podium.cluster.growth import Rows, count_of, indices
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import Cluster
from podium.config.types import Extender
from podium.engine.attempt import POST_FILTER_SKIPPED, AttemptError, Attempts
from podium.engine.choice import Choice
from podium.engine.decision import Decision
from podium.engine.extending import Candidates, Consultation
from podium.engine.post_filter import post_filtering
from podium.engine.scoring_guests import score_guests
from podium.engine.search import nodes_to_find, rotated, stop_early
from podium.framework.asking import Asking, driven
from podium.framework.cycle import Cycle
from podium.framework.diagnosis import Diagnosis, FilterResult
from podium.framework.extender_rules import EXTENDER, in_calling_order, interested
from podium.framework.filtering import PreFilterOutcome
from podium.framework.fit_message import NO_NODES, fit_error
from podium.framework.pod_group_cycle import PodGroupCycle
from podium.framework.profile import Profile
from podium.framework.scoring import ScoringError
from podium.framework.totals import best_rows


class ExtendedAttempts(Attempts):
    """Attempts that ask; with no extenders at all they are as without them."""

    def __init__(
        self,
        cluster: Cluster,
        choice: Choice,
        percentage: int,
        clock: Callable[[], float],
        extenders: Sequence[Extender],
    ) -> None:
        super().__init__(cluster, choice, percentage, clock)
        self._extenders = in_calling_order(extenders)
        self._choosy = any(e.filter_verb or e.prioritize_verb for e in extenders)

    def find(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> tuple[Decision, Cycle]:
        return driven(self._asking(info, profile, group))

    def finding(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> Asking[tuple[Decision, Cycle]]:
        return (yield from self._asking(info, profile, group))

    def _asking(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None
    ) -> Asking[tuple[Decision, Cycle]]:
        if not self._extenders:
            return Attempts.find(self, info, profile, group)
        decision = Decision(info, profile.name, self._node_names())
        cycle = Cycle(info, self._cluster)
        cycle.group = group
        extenders = interested(self._extenders, info.pod)
        consultation = Consultation(extenders, decision, self._cluster.nodes)
        try:
            yield from self._find_with(consultation, decision, cycle, profile)
        except (AttemptError, ScoringError) as problem:
            self._broke(decision, problem)
        return decision, cycle

    def _find_with(
        self, extenders: Consultation, decision: Decision, cycle: Cycle, profile: Profile
    ) -> Asking[None]:
        self._cluster.node_order()  # the snapshot: its order depends on when it is taken
        limited = cycle.group.limited_to if cycle.group is not None else None
        count = self._cluster.nodes.present_count if limited is None else len(limited)
        if count == 0:
            decision.message = NO_NODES
            decision.nominated_node = ""
            return
        diagnosis = decision.diagnosis = Diagnosis(count)
        started = self._clock()
        outcome = decision.pre_filter = profile.run_pre_filters(cycle)
        filtering = self._clock()
        decision.durations_s["pre_filter"] = filtering - started
        candidates = Candidates(())
        if outcome.status is None:
            diagnosis.rejectors |= outcome.narrowed_by
            candidates = yield from self._left(extenders, cycle, profile, outcome, diagnosis)
        else:
            self._rejected_by_pre_filter(diagnosis, outcome)
        scoring = self._clock()
        decision.durations_s["filter"] = scoring - filtering
        if not candidates.names:
            yield from self._make_room(decision, cycle, profile, diagnosis)
            decision.durations_s["post_filter"] = self._clock() - scoring
            return
        yield from self._choose_from(extenders, decision, cycle, profile, candidates)
        decision.durations_s["score"] = self._clock() - scoring

    # filtering

    def _left(
        self,
        extenders: Consultation,
        cycle: Cycle,
        profile: Profile,
        outcome: PreFilterOutcome,
        diagnosis: Diagnosis,
    ) -> Asking[Candidates]:
        """Nodes that plugins and extenders accept."""
        nominated = self._nominated_row(cycle, profile, diagnosis)
        if nominated is not None:
            alone = yield from self._nominated_alone(extenders, nominated, diagnosis)
            if alone.names:
                return alone
        found = self._searched(cycle, profile, outcome, diagnosis)
        candidates = Candidates(self._names_of(found))
        left = yield from extenders.filter(candidates, diagnosis)
        if len(left.names) != len(candidates.names):
            if not left.names:
                self._note_rejectors(diagnosis)
            diagnosis.rejectors.add(EXTENDER)
        return left

    def _nominated_alone(
        self, extenders: Consultation, row: Rows, diagnosis: Diagnosis
    ) -> Asking[Candidates]:
        """What is left of the nominated node. An error only means that all nodes are looked at."""
        try:
            left = yield from extenders.filter(Candidates(self._names_of(row)), diagnosis)
        except AttemptError:
            left = Candidates(())
        if not left.names:
            diagnosis.results.pop()  # plugins let it pass, and the search comes to it again
        return left

    def _search(self, cycle: Cycle, profile: Profile, rows: Rows) -> FilterResult:
        """As without extenders, but always in search order: extenders are told of it."""
        if not self._extenders:
            return super()._search(cycle, profile, rows)
        count = count_of(rows)
        percentage = profile.percentage_of_nodes_to_score
        want = nodes_to_find(count, self._percentage if percentage is None else percentage)
        if not profile.score and not self._choosy:
            want = min(want, 1)
        ordered = self._cluster.node_order() if isinstance(rows, slice) else rows
        result = profile.filter_rows(cycle, rotated(ordered, self._start) if count else ordered)
        stop_early(result, want)
        return result

    def _seen_before(self, diagnosis: Diagnosis, seen: int) -> int:
        """What extenders said about nodes before the search counts as long as it says no more."""
        before = super()._seen_before(diagnosis, seen)
        if diagnosis.own:
            searched = diagnosis.results[-1]
            rejected = set(indices(searched.rows)[:seen][~searched.passed()[:seen]].tolist())
            for row in rejected & set(diagnosis.own):
                del diagnosis.own[row]
        return before + len(diagnosis.own) + len(diagnosis.strangers)

    # no node

    def _make_room(
        self, decision: Decision, cycle: Cycle, profile: Profile, diagnosis: Diagnosis
    ) -> Asking[None]:
        if not profile.post_filter or (cycle.group is not None and not cycle.group.post_filters):
            outcome = POST_FILTER_SKIPPED
        else:
            outcome = yield from post_filtering(
                profile.post_filter, cycle, diagnosis, decision.note_consulted
            )
        if profile.post_filter:
            decision.post_filter = outcome
            decision.nominated_node = outcome.nominated_node
            diagnosis.postfilter_message = outcome.message
        else:
            decision.nominated_node = ""
        decision.message = fit_error(diagnosis)

    # choosing

    def _choose_from(
        self,
        extenders: Consultation,
        decision: Decision,
        cycle: Cycle,
        profile: Profile,
        candidates: Candidates,
    ) -> Asking[None]:
        feasible = decision.feasible = self._rows_of(candidates, decision)
        best = feasible
        if len(feasible) > 1:
            if candidates.returned is not None:
                scored = score_guests(profile, cycle, candidates.returned)
            else:
                skipped = profile.run_pre_scores(cycle, feasible)
                scores, totals = profile.score_rows(cycle, feasible)
                scored = skipped, scores, totals.read()
            decision.pre_score_skipped, decision.scores, total = scored
            added, points = yield from extenders.prioritize(candidates)
            decision.scores = [*decision.scores, *added]
            decision.totals = total = total + points
            best = best_rows(total, feasible)
        row = self._choice.pick(best, decision.node_names)
        decision.chosen = decision.node_names[row]

    # names and rows

    def _names_of(self, rows: Rows) -> tuple[str, ...]:
        names = self._cluster.nodes.names
        return tuple(names[row] for row in indices(rows).tolist())

    def _rows_of(self, candidates: Candidates, decision: Decision) -> npt.NDArray[np.intp]:
        """The rows of names; one that no node has gets a number behind the table's, in this
        decision alone. Only nodes that came back in full can have such names."""
        table = self._cluster.nodes
        if candidates.returned is None:
            return table.rows_of(candidates.names)
        strangers = dict.fromkeys(n for n in candidates.names if not table.is_present(n))
        first = len(decision.node_names)
        decision.node_names = (*decision.node_names, *strangers)
        numbers = {name: first + at for at, name in enumerate(strangers)}
        rows = [numbers.get(name, table.row(name)) for name in candidates.names]
        return np.array(rows, dtype=np.intp)
