"""Carrying out a preemption: which writes it takes, and what needs none.

A victim that only waits at Permit, or has not reached Bind, exists in memory alone: it is told to
stop. Others are evicted through the API; the preemptor is held back meanwhile (engine spec 11.8).
The last victim is special: once the others are gone, the preemptor need not wait for the report of
its eviction, it is enough to see it leave.
"""

from dataclasses import dataclass

from podium.cluster.pod_info import PodInfo
from podium.engine.requests import Evict, Preempt
from podium.engine.state import EngineState
from podium.framework.points import PostFilterResult

PLUGIN = "DefaultPreemption"


@dataclass(slots=True)
class _UnderWay:
    """The victims of one preemptor, and those of them that are still to be evicted."""

    victims: list[PodInfo]
    left: list[PodInfo]


class Preemptions:
    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._under_way: dict[str, _UnderWay] = {}

    def carry_out(self, preemptor: PodInfo, outcome: PostFilterResult) -> None:
        """Stop victims that exist in memory only, ask for the others' eviction."""
        state = self._state
        node_name = outcome.nominated_node or ""
        leaving = [victim for victim in outcome.victims if not victim.terminating]
        if not leaving:
            return
        weaker = tuple(
            other
            for other in state.cluster.nominator.on_node(node_name)
            if other.priority < preemptor.priority and other.pod.status.nominated_node_name
        )
        evict = tuple(
            Evict(victim, self._condition(preemptor))
            for victim in leaving
            if not self._stop_in_memory(victim, preemptor, node_name)
        )
        for victim in leaving:
            state.note(victim.key, "preempted", f"by {preemptor.key}")
        if evict or weaker:
            state.preempting.start(preemptor.uid)
            left = [eviction.victim for eviction in evict]
            self._under_way[preemptor.uid] = _UnderWay(leaving, left)
            self._watch_last(preemptor)
            state.ask(Preempt(preemptor, node_name, weaker, evict))

    def evicted(
        self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, was_gone: bool = False
    ) -> None:
        """The driver has evicted one victim, or found that it had gone by itself."""
        under_way = self._under_way.get(preemptor.uid)
        if under_way is not None:
            under_way.left = [other for other in under_way.left if other.uid != victim.uid]
            self._watch_last(preemptor)
        if not was_gone:
            self._tell(victim, preemptor, node_name)

    def finished(self, preemptor: PodInfo, problem: str | None) -> None:
        """The driver has evicted all victims, or met a problem and stopped."""
        state = self._state
        state.preempting.finish(preemptor.uid)
        under_way = self._under_way.pop(preemptor.uid, None)
        if problem is not None or (under_way and self._missed_it_all(preemptor, under_way)):
            state.queue.activate([preemptor])

    def _missed_it_all(self, preemptor: PodInfo, under_way: _UnderWay) -> bool:
        """Whether the last victim went while the preemptor was held back, so that nothing that is
        still to come would wake it. Upstream leaves it to the flush of long sleepers."""
        queued = self._state.queue.get(preemptor.key)
        placements = self._state.cluster.placements
        held_back = queued is not None and queued.gating_plugin == PLUGIN
        return held_back and not any(victim.uid in placements for victim in under_way.victims)

    def _watch_last(self, preemptor: PodInfo) -> None:
        left = self._under_way[preemptor.uid].left
        if len(left) == 1:
            self._state.preempting.reach_last(preemptor.uid, left[0].uid)

    def _condition(self, preemptor: PodInfo) -> str:
        name = preemptor.pod.spec.scheduler_name
        return f"{name}: preempting to accommodate a higher priority pod"

    def _stop_in_memory(self, victim: PodInfo, preemptor: PodInfo, node_name: str) -> bool:
        state = self._state
        waiting = state.waiting.get(victim.uid)
        flight = state.flights.get(victim.uid)
        stopped = (
            waiting.preempt(PLUGIN, "preempted")
            if waiting is not None
            else flight is not None and flight.binding.cancel(f"preempted by {PLUGIN}")
        )
        if stopped:
            self._tell(victim, preemptor, node_name, " (in kube-scheduler memory).")
        return stopped

    def _tell(self, victim: PodInfo, preemptor: PodInfo, node_name: str, end: str = "") -> None:
        note = f"Preempted by pod {preemptor.pod.metadata.uid} on node {node_name}{end}"
        self._state.tell(victim, "Normal", "Preempted", "Preempting", note, preemptor)
