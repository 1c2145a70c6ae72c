"""What extenders make of the nodes that plugins found, and of nodes that they return in full.

Filters are asked one after the other, each about what the one before left; scores are requested all
at once. What may be in an answer is decided here: names that were never asked about, nodes returned
in full, nodes named as failed. Where nobody is interested, nothing is asked and nothing changes.

Source: `findNodesThatPassExtenders` and `prioritizeNodes` in `pkg/scheduler/schedule_one.go`.

Scoring nodes that an extender returned in full. Such nodes are scored as objects alone: the pods
that run on them, what those use and the images there do not count. 1.36 does so
(`pkg/scheduler/extender.go`, `Filter`), and it is seen in placements. For as long as plugins look
at them they are in the table. What a plugin found out about a node at Filter it still knows, by
the node's name.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.golang.arithmetic import wrap_int64
from podium.kubernetes.kinds.node import Node
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.trials import TemporaryNodes
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.search import AttemptError, Candidates
from podium.scheduler.framework.asking import (
    EXTENDER,
    Asking,
    CallFailed,
    Extenders,
    FilterAnswer,
    FilterCall,
    PrioritizeAnswer,
    PrioritizeCall,
    ask_calls,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.points import ScorePlugin
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.scoring import MAX_SCORE, PluginScores, run_pre_scores, run_scores
from podium.scheduler.framework.status import Code, Status

MAX_EXTENDER_SCORE = 10
UNKNOWN_NODE = 'extender "{}" claims a filtered node "{}" which is not found in the input node list'
NO_REASON = Status(Code.UNRESOLVABLE, (), EXTENDER)
"""A node that disappears without a word is beyond preemption's help."""
_NO_POINTS: Ints = np.zeros(0, dtype=np.int64)


class Consultation:
    """What the extenders that are interested in a pod say in one attempt for it."""

    def __init__(self, extenders: Extenders, decision: Decision, nodes: NodeTable) -> None:
        """`extenders` are those that are interested, in calling order."""
        self._extenders = extenders
        self._decision = decision
        self._pod = decision.pod.pod
        self._nodes = nodes

    # filter

    def filter(self, candidates: Candidates, diagnosis: Diagnosis) -> Asking[Candidates]:
        """What filters leave; raises AttemptError if one fails whose errors count."""
        before, self._decision.dropped = candidates, {}
        for extender in self._extenders:
            if not len(candidates):
                break
            if not extender.filter_verb:
                continue
            call = FilterCall(
                extender,
                self._pod,
                candidates.names_in(self._nodes),
                candidates.objects_in(self._nodes),
            )
            (answer,) = yield from ask_calls((call,))
            if isinstance(answer, FilterAnswer):
                answer = _check_answer(call, answer)
            self._decision.note_consulted((call,), (answer,))
            if isinstance(answer, FilterAnswer):
                self._note_failed(answer, diagnosis)
                candidates = _keep_named(candidates, call, answer)
            elif isinstance(answer, CallFailed) and not extender.ignorable:
                raise AttemptError(answer.problem)
        if candidates is not before:
            self._decision.dropped = self._find_dropped(before, candidates, diagnosis)
        return candidates

    def _note_failed(self, answer: FilterAnswer, diagnosis: Diagnosis) -> None:
        """upstream: these are notes; what counts is whether a node is among those left."""
        for name, reason in answer.unresolvable.items():
            self._note(name, Status(Code.UNRESOLVABLE, (reason,), EXTENDER), diagnosis)
        for name, reason in answer.failed.items():
            if name not in answer.unresolvable:
                self._note(name, Status(Code.UNSCHEDULABLE, (reason,), EXTENDER), diagnosis)

    def _note(self, name: str, status: Status, diagnosis: Diagnosis) -> None:
        if self._nodes.is_present(name):
            diagnosis.own[self._nodes.row(name)] = status
        else:
            diagnosis.strangers[name] = status

    def _find_dropped(
        self, before: Candidates, after: Candidates, diagnosis: Diagnosis
    ) -> dict[str, Status]:
        names = before.names_in(self._nodes)
        if after.names == names:
            return {}
        left = set(after.names or ())
        return {
            name: diagnosis.own.get(self._nodes.row(name), NO_REASON)
            for name in names
            if name not in left
        }

    # prioritize

    def prioritize(self, candidates: Candidates) -> Asking[tuple[list[PluginScores], Ints]]:
        """(scores per extender, their weighted sum); an extender that fails adds nothing, and where
        there are no scores the sum is empty."""
        asking = [extender for extender in self._extenders if extender.prioritize_verb]
        if not asking:
            return [], _NO_POINTS
        names, objects = candidates.names_in(self._nodes), candidates.objects_in(self._nodes)
        calls = tuple(PrioritizeCall(each, self._pod, names, objects) for each in asking)
        answers = yield from ask_calls(calls)
        self._decision.note_consulted(calls, answers)
        scores: list[PluginScores] = []
        total: Ints = np.zeros(len(names), dtype=np.int64)
        for call, answer in zip(calls, answers, strict=True):
            if isinstance(answer, PrioritizeAnswer):
                weight = call.extender.weight * (MAX_SCORE // MAX_EXTENDER_SCORE)
                raw = _points(answer, names)
                name = _find_unused_name(call.extender.url_prefix, scores)
                scores.append(PluginScores(name, weight, raw, raw))
                total += raw * np.int64(wrap_int64(weight))
        return scores, total


def _check_answer(call: FilterCall, answer: FilterAnswer) -> FilterAnswer | CallFailed:
    """An answer that names a node nobody asked about is no answer."""
    if call.extender.node_cache_capable and answer.node_names != call.nodes:
        known = set(call.nodes)
        for name in answer.node_names or ():
            if name not in known:
                return CallFailed(UNKNOWN_NODE.format(call.extender.url_prefix, name))
    return answer


def _keep_named(asked_about: Candidates, call: FilterCall, answer: FilterAnswer) -> Candidates:
    """The nodes that an answer leaves, as they come.

    upstream: nodes in full are taken as they are, known or not, and an answer in the other form
    than the one that was requested leaves none.
    """
    if call.extender.node_cache_capable and answer.node_names is not None:
        known = call.returned
        returned = tuple(known[name] for name in answer.node_names) if known else None
        return Candidates(asked_about.rows, answer.node_names, returned)
    nodes = answer.nodes or ()
    return Candidates(asked_about.rows, tuple(node.metadata.name for node in nodes), nodes)


def _points(answer: PrioritizeAnswer, names: Sequence[str]) -> Ints:
    """By node: what is repeated adds up, what is missing is 0, what is unknown goes unheard."""
    points = dict(answer.scores)
    if len(points) != len(answer.scores):
        points = {}
        for host, score in answer.scores:
            points[host] = wrap_int64(points.get(host, 0) + score)
    found = (points.get(name, 0) for name in names)
    return np.fromiter(found, dtype=np.int64, count=len(names))


def _find_unused_name(name: str, scores: Sequence[PluginScores]) -> str:
    """A name for a row of scores: two extenders may have the same URL."""
    taken = {row.plugin for row in scores}
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


Scored = tuple[list[str], list[PluginScores], Ints]
"""Plugins that stood aside, scores per plugin, weighted totals."""


def score_returned_nodes(profile: Profile, cycle: Cycle, nodes: Sequence[Node]) -> Scored:
    table = cycle.nodes
    own = [table.row(node.metadata.name) for node in nodes]
    homes = np.array([row if row >= 0 and table.present[row] else -1 for row in own], dtype=np.intp)
    plugins: list[tuple[ScorePlugin, int]] = [
        (_AtHome(plugin, homes) if plugin.by_filtered_rows else plugin, weight)
        for plugin, weight in profile.score
    ]
    with TemporaryNodes(cycle.cluster, nodes) as rows:
        skipped = run_pre_scores(profile.pre_score, cycle, rows)
        scores, total = run_scores(plugins, cycle, rows)
    return skipped, scores, total


class _AtHome(ScorePlugin):
    """Asks a plugin about the rows that the nodes' names have in the table; 0 for the others."""

    def __init__(self, plugin: ScorePlugin, homes: npt.NDArray[np.intp]) -> None:
        self.name = plugin.name  # type: ignore[misc]
        self.in_range = plugin.in_range  # type: ignore[misc]
        self._plugin = plugin
        self._homes = homes

    def score(self, cycle: Cycle, rows: Rows) -> Ints:  # noqa: ARG002
        scores: Ints = np.zeros(len(self._homes), dtype=np.int64)
        known = self._homes >= 0
        if known.any():
            scores[known] = self._plugin.score(cycle, self._homes[known])
        return scores

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        return self._plugin.normalize(cycle, rows, scores)
