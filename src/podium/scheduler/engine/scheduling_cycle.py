"""The scheduling cycle: one pod, one attempt, from PreFilter to Permit.

    PreFilter ▶ Filter ▶ extenders filter ─┬─▶ PreScore ▶ Score ▶ extenders score ▶ choose
                   │                       │                                          │
                   └──── no node ──────────┴─▶ PostFilter          assume ▶ Reserve ▶ Permit

It is a generator: where extenders have a say it yields calls and is resumed with their answers
(`scheduler/framework/asking.py`); without any it never stops. Nothing here waits or writes outside:
the cluster gains an assumed pod on success and the rest is told by the decision. A cycle works on
the cluster as it was when it began: what changes meanwhile is kept back (`state.py`). What
ends an attempt, which text it ends with and what happens to a nomination is upstream's
(`pkg/scheduler/schedule_one.go`, `schedulingCycle` and what it calls).
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.types import Extender
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.extending import Consultation, score_returned_nodes
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.post_filter import POST_FILTER_SKIPPED, run_post_filters
from podium.scheduler.engine.reservations import Reservations
from podium.scheduler.engine.search import AttemptError, Candidates, Choice, NodeSearch
from podium.scheduler.framework.asking import EXTENDER, Asking, find_interested, in_calling_order
from podium.scheduler.framework.caches.totals import BestRows, Totals
from podium.scheduler.framework.cycle import Cycle, PodGroupCycle
from podium.scheduler.framework.diagnosis import NO_NODES, Diagnosis, fit_error
from podium.scheduler.framework.filtering import PreFilterOutcome
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.scoring import ScoringError

_NO_CANDIDATES = Candidates(np.zeros(0, dtype=np.intp))


class SchedulingCycle:
    """Runs scheduling cycles, one after another."""

    def __init__(
        self,
        cluster: Cluster,
        choice: Choice,
        percentage: int,
        clock: Callable[[], float],
        reservations: Reservations,
        extenders: Sequence[Extender] = (),
        observer: Observer | None = None,
    ) -> None:
        self._cluster = cluster
        self._choice = choice
        self._clock = clock
        self._reservations = reservations
        self._extenders = in_calling_order(extenders)
        self._observer = observer or Observer()
        self._search = NodeSearch(cluster, percentage, extenders)
        self._names: tuple[str, ...] = ()
        self._all_rows: npt.NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._names_version = -1

    def find_node(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> Asking[tuple[Decision, Cycle]]:
        """Find a node for a pod, on its own or as a member of a group; nothing is held yet."""
        started = self._clock()
        self._observer.search_started(info)
        decision = Decision(info, profile.name, self._node_names())
        cycle = Cycle(info, self._cluster)
        cycle.group = group
        try:
            yield from self._find_node(decision, cycle, profile)
        except (AttemptError, ScoringError) as problem:
            decision.message = str(problem)
            decision.is_error = True
            decision.nominated_node = ""
        decision.durations_s["total"] = self._clock() - started
        self._observer.search_ended(decision)
        return decision, cycle

    def hold_node(self, decision: Decision, cycle: Cycle, profile: Profile) -> None:
        """Assume the pod on the node that was found, if one was; the decision tells how it went."""
        if decision.chosen is not None:
            started = self._clock()
            self._reservations.assume_and_reserve(decision, cycle, profile, decision.chosen)
            decision.durations_s["total"] += self._clock() - started

    def _find_node(self, decision: Decision, cycle: Cycle, profile: Profile) -> Asking[None]:
        self._cluster.node_order()  # the snapshot: its order depends on when it is taken
        limit = cycle.group.limited_to if cycle.group is not None else None
        count = self._cluster.nodes.present_count if limit is None else len(limit)
        if count == 0:
            decision.message = NO_NODES
            decision.nominated_node = ""
            return
        diagnosis = decision.diagnosis = Diagnosis(count)
        extenders = self._consult(decision) if self._extenders else None
        started = self._clock()
        outcome = decision.pre_filter = profile.run_pre_filters(cycle)
        filtering = self._clock()
        decision.durations_s["pre_filter"] = filtering - started
        found: Candidates | None = None
        if outcome.status is not None:
            found = _NO_CANDIDATES
            _reject_by_pre_filter(diagnosis, outcome)
        else:
            diagnosis.rejectors |= outcome.narrowed_by
            nominated = self._search.try_nominated(cycle, profile, diagnosis, limit)
            if nominated is not None:
                found = Candidates(nominated)
                if extenders is not None:
                    found = yield from self._filter_nominated(extenders, found, diagnosis)
        if found is None:
            found = Candidates(self._search.find(cycle, profile, outcome, diagnosis, limit))
            if extenders is not None:
                found = yield from self._filter_found(extenders, found, diagnosis)
        scoring = self._clock()
        decision.durations_s["filter"] = scoring - filtering
        if len(found) == 0:
            yield from self._post_filter(decision, cycle, profile, diagnosis)
            decision.durations_s["post_filter"] = self._clock() - scoring
            return
        totals = self._score(decision, cycle, profile, found)
        if extenders is not None and totals is not None:
            totals = yield from self._add_priorities(extenders, decision, found, totals)
        self._choose(decision, totals)
        decision.durations_s["score"] = self._clock() - scoring

    def _consult(self, decision: Decision) -> Consultation | None:
        who = find_interested(self._extenders, decision.pod.pod)
        return Consultation(who, decision, self._cluster.nodes) if who else None

    # what extenders leave

    def _filter_nominated(
        self, extenders: Consultation, nominated: Candidates, diagnosis: Diagnosis
    ) -> Asking[Candidates | None]:
        """The nominated node if it is left. Otherwise, and after an error, all are looked at."""
        try:
            left = yield from extenders.filter(nominated, diagnosis)
        except AttemptError:
            left = _NO_CANDIDATES
        if len(left):
            return left
        diagnosis.results.pop()  # plugins let it pass, and the search comes to it again
        return None

    def _filter_found(
        self, extenders: Consultation, found: Candidates, diagnosis: Diagnosis
    ) -> Asking[Candidates]:
        left = yield from extenders.filter(found, diagnosis)
        if len(left) != len(found):
            if not len(left):
                self._search.note_rejectors(diagnosis)
            diagnosis.rejectors.add(EXTENDER)
        return left

    def _add_priorities(
        self, extenders: Consultation, decision: Decision, found: Candidates, totals: Totals
    ) -> Asking[Totals]:
        added, points = yield from extenders.prioritize(found)
        if not added:
            return totals
        decision.scores = [*decision.scores, *added]
        return Totals(totals.read() + points)

    # no node

    def _post_filter(
        self, decision: Decision, cycle: Cycle, profile: Profile, diagnosis: Diagnosis
    ) -> Asking[None]:
        if profile.post_filter:
            if cycle.group is not None and not cycle.group.post_filters:
                outcome = POST_FILTER_SKIPPED
            else:
                outcome = yield from run_post_filters(
                    profile.post_filter, cycle, diagnosis, decision.note_consulted
                )
            decision.post_filter = outcome
            decision.nominated_node = outcome.nominated_node
            diagnosis.postfilter_message = outcome.message
        else:
            decision.nominated_node = ""
        decision.message = fit_error(diagnosis)

    # choosing

    def _score(
        self, decision: Decision, cycle: Cycle, profile: Profile, found: Candidates
    ) -> Totals | None:
        """Weighted totals of the feasible nodes; None where there is nothing to compare."""
        named = found.names is not None
        feasible = self._rows_of(found, decision) if named else self._numbers(found.rows)
        decision.feasible = feasible
        if len(feasible) == 1 or not (profile.score or self._extenders):
            return None
        if found.returned is not None:
            scored = score_returned_nodes(profile, cycle, found.returned)
            decision.pre_score_skipped, decision.scores, total = scored
            return Totals(total)
        rows = feasible if named else found.rows
        decision.pre_score_skipped = profile.run_pre_scores(cycle, rows)
        decision.scores, totals = profile.score_rows(cycle, rows)
        return totals

    def _choose(self, decision: Decision, totals: Totals | None) -> None:
        best: BestRows = decision.feasible
        if totals is not None:
            decision.totals = totals.column
            best = totals.best(decision.feasible)
        row = self._choice.pick(best, decision.node_names)
        decision.chosen = decision.node_names[row]

    def _rows_of(self, found: Candidates, decision: Decision) -> npt.NDArray[np.intp]:
        """The rows of names; one that no node has gets a number behind the table's, in this
        decision alone. Only nodes that came back in full can have such names."""
        table = self._cluster.nodes
        names = found.names_in(table)
        if found.returned is None:
            return table.rows_of(names)
        strangers = dict.fromkeys(n for n in names if not table.is_present(n))
        first = len(decision.node_names)
        decision.node_names = (*decision.node_names, *strangers)
        numbers = {name: first + at for at, name in enumerate(strangers)}
        rows = [numbers.get(name, table.row(name)) for name in names]
        return np.array(rows, dtype=np.intp)

    def _numbers(self, rows: Rows) -> npt.NDArray[np.intp]:
        """Row numbers; those of the whole table are made once and shared."""
        if not isinstance(rows, slice):
            return rows
        if len(self._all_rows) != rows.stop:
            self._all_rows = indices(rows)
            self._all_rows.flags.writeable = False
        return self._all_rows

    def _node_names(self) -> tuple[str, ...]:
        if self._names_version != self._cluster.nodes.membership:
            self._names_version = self._cluster.nodes.membership
            self._names = tuple(self._cluster.nodes.names[: self._cluster.nodes.size])
        return self._names


def _reject_by_pre_filter(diagnosis: Diagnosis, outcome: PreFilterOutcome) -> None:
    status = outcome.status
    if status is None or not status.code.rejected:
        raise AttemptError(status.message if status else "")
    diagnosis.absent = status
    diagnosis.prefilter_message = status.message
    diagnosis.rejectors |= outcome.narrowed_by
    if status.plugin:
        diagnosis.rejectors.add(status.plugin)
