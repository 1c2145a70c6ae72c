"""The scheduling cycle: one pod, one attempt, from PreFilter to Permit.

Nothing here waits or writes outside: the cluster gains an assumed pod on success and the rest is
told by the decision. Every rule of what ends an attempt, which text it ends with and what happens
to a nomination is from the engine spec, sections 5.2 to 5.8.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from podium.cluster.growth import Rows, count_of, indices
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import CacheError, Cluster
from podium.engine.choice import Choice
from podium.engine.decision import Decision
from podium.engine.post_filter import run_post_filters
from podium.engine.search import nodes_to_find, rotated, stop_early, whole_table
from podium.framework.asking import Asking
from podium.framework.cycle import Cycle
from podium.framework.diagnosis import Diagnosis, FilterResult
from podium.framework.faults import describe
from podium.framework.filtering import PreFilterOutcome
from podium.framework.fit_message import NO_NODES, fit_error, one_node_error
from podium.framework.pod_group_cycle import PlacementRows, PodGroupCycle
from podium.framework.points import PermitResult, PostFilterResult
from podium.framework.profile import Profile
from podium.framework.scoring import ScoringError
from podium.framework.status import Code, Status, error, unresolvable
from podium.framework.totals import BestRows

POST_FILTER_SKIPPED = PostFilterResult(Code.UNSCHEDULABLE, ("All PostFilter plugins are skipped",))
NOBODY_REJECTED = "one or more plugins asked to wait and no plugin rejected pod"


class AttemptError(Exception):
    """The attempt broke (as opposed to: no node fits); the text is its message."""


class Attempts:
    """Runs attempts one after another and remembers where the search left off."""

    def __init__(
        self, cluster: Cluster, choice: Choice, percentage: int, clock: Callable[[], float]
    ) -> None:
        self._cluster = cluster
        self._choice = choice
        self._percentage = percentage
        self._clock = clock
        self._start = 0
        self._names: tuple[str, ...] = ()
        self._all_rows: npt.NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._names_version = -1

    def run(self, info: PodInfo, profile: Profile) -> tuple[Decision, Cycle]:
        """Find a node for a pod and assume it there; the decision tells how it went."""
        started = self._clock()
        decision, cycle = self.find(info, profile)
        if decision.chosen is not None:
            self.hold(decision, cycle, profile, decision.chosen)
        decision.durations_s["total"] = self._clock() - started
        return decision, cycle

    def running(self, info: PodInfo, profile: Profile) -> Asking[tuple[Decision, Cycle]]:
        """`run` for engines with extenders."""
        started = self._clock()
        decision, cycle = yield from self.finding(info, profile)
        if decision.chosen is not None:
            self.hold(decision, cycle, profile, decision.chosen)
        decision.durations_s["total"] = self._clock() - started
        return decision, cycle

    def finding(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> Asking[tuple[Decision, Cycle]]:
        """`find` for callers that can wait; here there is nobody to wait for."""
        yield from ()
        return self.find(info, profile, group)

    def find(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> tuple[Decision, Cycle]:
        """Find a node for a pod, on its own or as a member of a group; nothing is held yet."""
        decision = Decision(info, profile.name, self._node_names())
        cycle = Cycle(info, self._cluster)
        cycle.group = group
        try:
            self._find(decision, cycle, profile)
        except (AttemptError, ScoringError) as problem:
            self._broke(decision, problem)
        return decision, cycle

    def _broke(self, decision: Decision, problem: Exception) -> None:
        decision.message = str(problem)
        decision.is_error = True
        decision.nominated_node = ""

    # finding a node

    def _find(self, decision: Decision, cycle: Cycle, profile: Profile) -> None:
        self._cluster.node_order()  # the snapshot: its order depends on when it is taken
        placement = _placement(cycle)
        count = self._cluster.nodes.present_count if placement is None else len(placement)
        if count == 0:
            decision.message = NO_NODES
            decision.nominated_node = ""
            return
        diagnosis = decision.diagnosis = Diagnosis(count)
        started = self._clock()
        outcome = decision.pre_filter = profile.run_pre_filters(cycle)
        filtering = self._clock()
        decision.durations_s["pre_filter"] = filtering - started
        if outcome.status is None:
            rows = self._feasible(decision, cycle, profile, outcome)
        else:
            rows = None
            self._rejected_by_pre_filter(diagnosis, outcome)
        scoring = self._clock()
        decision.durations_s["filter"] = scoring - filtering
        if rows is None or count_of(rows) == 0:
            self._no_node_fits(decision, cycle, profile, diagnosis)
            decision.durations_s["post_filter"] = self._clock() - scoring
            return
        self._choose(decision, cycle, profile, rows)
        decision.durations_s["score"] = self._clock() - scoring

    def _rejected_by_pre_filter(self, diagnosis: Diagnosis, outcome: PreFilterOutcome) -> None:
        status = outcome.status
        if status is None or not status.code.rejected:
            raise AttemptError(status.message if status else "")
        diagnosis.absent = status
        diagnosis.prefilter_message = status.message
        diagnosis.rejectors |= outcome.narrowed_by
        if status.plugin:
            diagnosis.rejectors.add(status.plugin)

    def _feasible(
        self, decision: Decision, cycle: Cycle, profile: Profile, outcome: PreFilterOutcome
    ) -> Rows:
        """Rows that pass every filter."""
        diagnosis = decision.diagnosis
        if diagnosis is None:
            raise AttemptError("filtering without a diagnosis")
        diagnosis.rejectors |= outcome.narrowed_by
        nominated = self._nominated_row(cycle, profile, diagnosis)
        if nominated is not None:
            return nominated
        return self._searched(cycle, profile, outcome, diagnosis)

    def _searched(
        self, cycle: Cycle, profile: Profile, outcome: PreFilterOutcome, diagnosis: Diagnosis
    ) -> Rows:
        """Rows among all that the attempt may look at."""
        placement = _placement(cycle)
        rows = whole_table(self._cluster) if placement is None else placement
        if outcome.nodes is not None:
            by = " ".join(sorted(outcome.narrowed_by))
            diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{by}]")
            rows = self._narrowed(outcome.nodes, placement)
        result = self._search(cycle, profile, rows)
        diagnosis.results.append(result)
        seen, problem = _up_to_an_error(result)
        self._start = (self._start + seen + self._seen_before(diagnosis, seen)) % (
            diagnosis.node_count
        )
        if problem:
            raise AttemptError(problem)
        survivors = result.survivors()
        if not count_of(survivors):
            self._note_rejectors(diagnosis)
        return survivors

    def _seen_before(self, diagnosis: Diagnosis, seen: int) -> int:
        """1 if the nominated node was rejected and is not among those the search has seen."""
        if len(diagnosis.results) == 1:
            return 0
        nominated, searched = (indices(result.rows) for result in diagnosis.results)
        return int(nominated[0] not in searched[:seen])

    def _nominated_row(self, cycle: Cycle, profile: Profile, diagnosis: Diagnosis) -> Rows | None:
        """The pod's nominated node alone, if it is there and passes."""
        name = cycle.pod.pod.status.nominated_node_name
        if not name or not self._cluster.nodes.is_present(name):
            return None
        rows = np.array([self._cluster.nodes.row(name)], dtype=np.intp)
        placement = _placement(cycle)
        if placement is not None and rows[0] not in placement:
            return None
        result = profile.filter_rows(cycle, rows)
        status = result.status(0)
        if status is None:
            diagnosis.results.append(result)
            return rows
        if status.code.rejected:
            diagnosis.results.append(result)
        return None

    def _narrowed(self, names: frozenset[str], placement: PlacementRows | None) -> Rows:
        rows = [r for r in map(self._cluster.nodes.row, names) if r >= 0]
        present = self._cluster.nodes.present
        wanted = {r for r in rows if present[r]}
        order = self._cluster.node_order() if placement is None else placement
        return order[np.isin(order, list(wanted))] if wanted else order[:0]

    def _search(self, cycle: Cycle, profile: Profile, rows: Rows) -> FilterResult:
        """Filter enough of the rows; in search order where that order can be seen."""
        count = count_of(rows)
        percentage = profile.percentage_of_nodes_to_score
        want = nodes_to_find(count, self._percentage if percentage is None else percentage)
        if not profile.score and count:
            want = 1
        if want >= count:
            result = profile.filter_rows(cycle, rows)
            if not result.broken:
                return result
        ordered = self._cluster.node_order() if isinstance(rows, slice) else rows
        result = profile.filter_rows(cycle, rotated(ordered, self._start))
        stop_early(result, want)
        return result

    def _note_rejectors(self, diagnosis: Diagnosis) -> None:
        """Whose change of mind about some node may help."""
        for result in diagnosis.results:
            for status, _ in result.groups():
                diagnosis.rejectors.add(status.plugin)
                if status.code is Code.PENDING:
                    diagnosis.pending.add(status.plugin)

    # no node

    def _no_node_fits(
        self, decision: Decision, cycle: Cycle, profile: Profile, diagnosis: Diagnosis
    ) -> None:
        if profile.post_filter:
            if cycle.group is not None and not cycle.group.post_filters:
                outcome = POST_FILTER_SKIPPED
            else:
                outcome = run_post_filters(profile.post_filter, cycle, diagnosis)
            decision.post_filter = outcome
            decision.nominated_node = outcome.nominated_node
            diagnosis.postfilter_message = outcome.message
        else:
            decision.nominated_node = ""
        decision.message = fit_error(diagnosis)

    # choosing

    def _choose(self, decision: Decision, cycle: Cycle, profile: Profile, rows: Rows) -> None:
        feasible = decision.feasible = self._numbers(rows)
        best: BestRows = feasible
        if len(feasible) > 1 and profile.score:
            decision.pre_score_skipped = profile.run_pre_scores(cycle, rows)
            decision.scores, totals = profile.score_rows(cycle, rows)
            decision.totals = totals.column
            best = totals.best(feasible)
        row = self._choice.pick(best, decision.node_names)
        decision.chosen = decision.node_names[row]

    # holding the node

    def hold(
        self, decision: Decision, cycle: Cycle, profile: Profile, node_name: str
    ) -> Status | None:
        """Assume the pod on a node, reserve, ask for permission.

        The answer is Permit's: None to go ahead, or to wait; anything else means that nothing is
        held and the decision says why.
        """
        try:
            self._cluster.assume(cycle.pod, node_name)
        except CacheError as problem:
            return self._fail(decision, error(describe(problem)))
        self._cluster.nominator.drop(cycle.pod.uid)
        answer = self._reserve(cycle, profile, node_name)
        if answer is None:
            answer = self._permit(decision, cycle, profile, node_name)
        if answer is not None and answer.code is not Code.WAIT:
            problems = self.undo(cycle, profile, node_name)
            if problems:
                answer = error("; ".join((answer.message, *problems)))
            return self._fail(decision, answer)
        decision.bound = node_name
        return answer

    def _reserve(self, cycle: Cycle, profile: Profile, node_name: str) -> Status | None:
        for plugin in profile.reserve:
            try:
                answer = plugin.reserve(cycle, node_name)
            except Exception as problem:
                answer = error(describe(problem))
            if answer is None or answer.code is Code.SUCCESS:
                continue
            if answer.code.rejected:
                return answer.by(plugin.name)
            text = f'running Reserve plugin "{plugin.name}": {answer.message}'
            return error(text).by(plugin.name)
        return None

    def _permit(
        self, decision: Decision, cycle: Cycle, profile: Profile, node_name: str
    ) -> Status | None:
        """None if the pod may go on, what the last of those says that want it to wait (their
        timeouts are the decision's), or why it may not."""
        waits: dict[str, float] = {}
        waiting: Status | None = None
        for plugin in profile.permit:
            try:
                answer = plugin.permit(cycle, node_name)
            except Exception as problem:
                answer = PermitResult(error(describe(problem)))
            if answer is None or answer.status.code is Code.SUCCESS:
                continue
            if answer.status.code is Code.WAIT:
                waits[plugin.name] = answer.timeout_s
                waiting = Status(Code.WAIT, (*answer.status.reasons, NOBODY_REJECTED), plugin.name)
            elif answer.status.code.rejected:
                return answer.status.by(plugin.name)
            else:
                text = f'running Permit plugin "{plugin.name}": {answer.status.message}'
                return error(text).by(plugin.name)
        decision.waits_s = waits
        return waiting

    def undo(self, cycle: Cycle, profile: Profile, node_name: str) -> list[str]:
        """Take back what holding a node did: unreserve in reverse order, then forget the pod.

        Returns what went wrong with it, which stops nothing.
        """
        problems: list[str] = []
        for plugin in reversed(profile.reserve):
            try:
                plugin.unreserve(cycle, node_name)
            except Exception as problem:
                problems.append(f'running Unreserve plugin "{plugin.name}": {describe(problem)}')
        try:
            self._cluster.forget(cycle.pod)
        except CacheError as problem:
            problems.append(describe(problem))
        if cycle.group is not None:
            self._cluster.nominator.restore(cycle.pod)
        return problems

    def _fail(self, decision: Decision, status: Status) -> Status:
        decision.nominated_node = ""
        decision.is_error = not status.code.rejected
        decision.message = one_node_error(status) if status.code.rejected else status.message
        if status.code.rejected:
            decision.refused_by = status
        return status

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


def _placement(cycle: Cycle) -> PlacementRows | None:
    """The rows that the attempt is limited to, if it is."""
    return cycle.group.limited_to if cycle.group is not None else None


def _up_to_an_error(result: FilterResult) -> tuple[int, str]:
    """How many rows lie before the first error, and its text; all of them if there is none."""
    if result.broken:
        errors = [(int(p.min()), s.message) for s, p in result.groups() if not s.code.rejected]
        if errors:
            return min(errors)
    return result.count, ""
