"""Running PostFilter plugins, and carrying out the preemption that they decide on.

The first success ends the phase and drops earlier texts; unschedulable answers are collected; an
unresolvable one or an error ends the phase with its own text alone. A plugin may want extenders to
be asked before it answers.

Source: `RunPostFilterPlugins` in `pkg/scheduler/framework/runtime/framework.go`.

Carrying out a preemption: which writes it takes, and what needs none. A victim that only waits at
Permit, or has not reached Bind, exists in memory alone: it is told to stop. Others are evicted
through the API; the preemptor is held back meanwhile. The last victim is special: once the others
are gone, the preemptor need not wait for the report of its eviction, it is enough to see it leave.

Source: `prepareCandidateAsync` and `prepareCandidate` in
`pkg/scheduler/framework/preemption/executor.go`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import (
    Evict,
    GroupPreemptor,
    Preempt,
    PreemptForGroup,
    Preemptor,
)
from podium.scheduler.engine.state import EngineState, transition
from podium.scheduler.framework.asking import Answers, Asking, Calls, resolve_answer
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.points import PostFilterPlugin, PostFilterResult
from podium.scheduler.framework.status import Code

POST_FILTER_SKIPPED = PostFilterResult(Code.UNSCHEDULABLE, ("All PostFilter plugins are skipped",))


def run_post_filters(
    plugins: Sequence[PostFilterPlugin],
    cycle: Cycle,
    diagnosis: Diagnosis,
    heard: Callable[[Calls, Answers], None] = lambda *_: None,
) -> Asking[PostFilterResult]:
    """The phase; `heard` is notified of what extenders were asked."""
    reasons: list[str] = []
    nominated: str | None = None
    code = Code.UNSCHEDULABLE
    for plugin in plugins:
        try:
            answer = yield from resolve_answer(plugin.post_filter(cycle, diagnosis), heard)
            if not isinstance(answer, PostFilterResult):
                raise WrongAnswer("post_filter", "a PostFilterResult", answer)
        except Exception as problem:
            return PostFilterResult(Code.ERROR, (describe(problem),))
        if answer.code is Code.SUCCESS:
            return replace(answer, plugin=plugin.name)
        if answer.code is Code.UNRESOLVABLE:
            return PostFilterResult(answer.code, answer.reasons, answer.nominated_node)
        if not answer.code.rejected:
            return PostFilterResult(Code.ERROR, answer.reasons)
        reasons.extend(answer.reasons)
        if answer.nominated_node is not None:
            nominated = answer.nominated_node
    return PostFilterResult(code, tuple(reasons), nominated)


PLUGIN = "DefaultPreemption"
"""Who preempts for groups, and for pods where no other plugin takes its place."""
ANY_NODE = "cluster"
"""upstream: what is in the place of a node's name where a group preempts"""


@dataclass(slots=True)
class _UnderWay:
    """The victims of one preemptor, those of them that are still to be evicted, since when, and the
    plugin that chose them."""

    node_name: str
    victims: list[PodInfo]
    left: list[PodInfo]
    since: float
    plugin: str


class Preemptions:
    def __init__(self, state: EngineState) -> None:
        self.transitions = state.transitions
        self._state = state
        self._under_way: dict[str, _UnderWay] = {}

    def carry_out(self, preemptor: PodInfo, outcome: PostFilterResult) -> None:
        """Stop victims that exist in memory only, ask for the others' eviction."""
        node_name = outcome.nominated_node or ""
        victims = ", ".join(victim.key for victim in outcome.victims)
        self._state.note(preemptor.key, "preempting", victims, about=node_name)
        room = self._make_room(preemptor, outcome.victims, node_name, outcome.plugin or PLUGIN)
        if room is not None:
            self._state.ask(Preempt(preemptor, node_name, *room))

    def carry_out_for_group(self, preemptor: GroupPreemptor, victims: Sequence[PodInfo]) -> None:
        """The same where a pod group is the preemptor."""
        room = self._make_room(preemptor, victims, ANY_NODE, PLUGIN)
        if room is not None:
            self._state.ask(PreemptForGroup(preemptor, ANY_NODE, *room))

    def _make_room(
        self, preemptor: Preemptor, victims: Sequence[PodInfo], node_name: str, plugin: str
    ) -> tuple[tuple[PodInfo, ...], tuple[Evict, ...]] | None:
        """(nominations to clear, pods to evict), None if nothing is left to ask for."""
        state = self._state
        leaving = [victim for victim in victims if not victim.terminating]
        if not leaving and state.gates["SchedulerAsyncPreemption"]:
            # upstream: prepareCandidateAsync ends here, prepareCandidate still clears nominations.
            return None
        state.observers.preemption_started(preemptor, victims, node_name)
        weaker = tuple(
            other
            for other in state.cluster.nominator.on_node(node_name)
            if other.priority < preemptor.priority and other.pod.status.nominated_node_name
        )
        evict = tuple(
            Evict(victim, self._condition(preemptor))
            for victim in leaving
            if not self._stop_in_memory(victim, preemptor, node_name, plugin)
        )
        for victim in leaving:
            state.note(victim.key, "preempted", about=preemptor.key)
        if not (evict or weaker):
            state.observers.preemption_ended(preemptor, node_name, None, 0.0)
            return None
        if state.gates["SchedulerAsyncPreemption"]:
            state.preempting.start(preemptor.uid)
        left = [eviction.victim for eviction in evict]
        now = state.clock()
        self._under_way[preemptor.uid] = _UnderWay(node_name, leaving, left, now, plugin)
        self._watch_last(preemptor)
        return weaker, evict

    @transition
    def confirm_eviction(
        self, preemptor: Preemptor, victim: PodInfo, node_name: str, *, was_gone: bool = False
    ) -> None:
        """The driver has evicted one victim, or found that it had gone by itself."""
        under_way = self._under_way.get(preemptor.uid)
        if under_way is not None:
            under_way.left = [other for other in under_way.left if other.uid != victim.uid]
            self._watch_last(preemptor)
        self._state.observers.victim_evicted(preemptor, victim, node_name, was_gone=was_gone)
        if not was_gone:
            self._tell(victim, preemptor, node_name)

    @transition
    def finish_preemption(self, preemptor: Preemptor, problem: str | None) -> None:
        """The driver has evicted all victims, or met a problem and stopped."""
        state = self._state
        state.preempting.finish(preemptor.uid)
        under_way = self._under_way.pop(preemptor.uid, None)
        if under_way is not None:
            seconds = state.clock() - under_way.since
            state.observers.preemption_ended(preemptor, under_way.node_name, problem, seconds)
        if problem is not None or (under_way and self._missed_it_all(preemptor, under_way)):
            state.activate(_pods(preemptor))

    def _missed_it_all(self, preemptor: Preemptor, under_way: _UnderWay) -> bool:
        """Whether the last victim went while the preemptor was held back, so that nothing that is
        still to come would wake it. Upstream leaves it to the flush of long sleepers."""
        queue, placements = self._state.queue, self._state.cluster.placements
        queued = (queue.get(pod.key) for pod in _pods(preemptor))
        held_back = any(
            q is not None and q.gating_plugin in (PLUGIN, under_way.plugin) for q in queued
        )
        return held_back and not any(victim.uid in placements for victim in under_way.victims)

    def _watch_last(self, preemptor: Preemptor) -> None:
        left = self._under_way[preemptor.uid].left
        if len(left) == 1:
            self._state.preempting.reach_last(preemptor.uid, left[0].uid)

    def _condition(self, preemptor: Preemptor) -> str:
        name = _pods(preemptor)[0].pod.spec.scheduler_name
        return f"{name}: preempting to accommodate a higher priority {_kind(preemptor)}"

    def _stop_in_memory(
        self, victim: PodInfo, preemptor: Preemptor, node_name: str, plugin: str
    ) -> bool:
        state = self._state
        waiting = state.waiting.get(victim.uid)
        flight = state.flights.get(victim.uid)
        stopped = (
            waiting.preempt(plugin, "preempted")
            if waiting is not None
            else flight is not None and flight.binding.cancel(f"preempted by {plugin}")
        )
        if stopped:
            state.observers.victim_stopped(
                preemptor, victim, node_name, waiting=waiting is not None
            )
            self._tell(victim, preemptor, node_name, " (in kube-scheduler memory).")
        return stopped

    def _tell(self, victim: PodInfo, preemptor: Preemptor, node_name: str, end: str = "") -> None:
        related = preemptor.group if isinstance(preemptor, GroupPreemptor) else preemptor
        uid = (related if isinstance(related, PodGroup) else related.pod).metadata.uid
        note = f"Preempted by {_kind(preemptor)} {uid} on node {node_name}{end}"
        self._state.tell(victim, "Normal", "Preempted", "Preempting", note, related)


def _kind(preemptor: Preemptor) -> str:
    return "podgroup" if isinstance(preemptor, GroupPreemptor) else "pod"


def _pods(preemptor: Preemptor) -> Sequence[PodInfo]:
    return preemptor.members if isinstance(preemptor, GroupPreemptor) else (preemptor,)
