"""Carrying out a preemption: which writes it takes, and what needs none.

A victim that only waits at Permit, or has not reached Bind, exists in memory alone: it is told to
stop. Others are evicted through the API; the preemptor is held back meanwhile (engine spec 11.8).
"""

from podium.cluster.pod_info import PodInfo
from podium.engine.requests import Evict, Preempt
from podium.engine.state import EngineState
from podium.framework.points import PostFilterResult

PLUGIN = "DefaultPreemption"


class Preemptions:
    def __init__(self, state: EngineState) -> None:
        self._state = state

    def carry_out(self, preemptor: PodInfo, outcome: PostFilterResult) -> None:
        state = self._state
        node_name = outcome.nominated_node or ""
        leaving = [victim for victim in outcome.victims if not victim.terminating]
        if not leaving:
            return
        weaker = tuple(
            other
            for other in state.cluster.nominator.on_node(node_name)
            if other.priority < preemptor.priority
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
            if evict:
                state.preempting.reach_last(preemptor.uid, evict[-1].victim.uid)
            state.ask(Preempt(preemptor, node_name, weaker, evict))

    def finished(self, preemptor: PodInfo, problem: str | None) -> None:
        """The driver has evicted all victims, or met a problem and stopped."""
        state = self._state
        state.preempting.finish(preemptor.uid)
        if problem is not None:
            state.queue.activate([preemptor])

    def evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """The driver has evicted one victim."""
        note = f"Preempted by pod {preemptor.pod.metadata.uid} on node {node_name}"
        self._state.tell(victim, "Normal", "Preempted", "Preempting", note, preemptor)

    def _condition(self, preemptor: PodInfo) -> str:
        name = preemptor.pod.spec.scheduler_name
        return f"{name}: preempting to accommodate a higher priority pod"

    def _stop_in_memory(self, victim: PodInfo, preemptor: PodInfo, node_name: str) -> bool:
        state = self._state
        waiting = state.waiting.get(victim.uid)
        flight = state.flights.get(victim.uid)
        stopped = (
            waiting.preempt(PLUGIN, f"preempted by {PLUGIN}")
            if waiting is not None
            else flight is not None and flight.binding.cancel(f"preempted by {PLUGIN}")
        )
        if stopped:
            note = f"Preempted by pod {preemptor.pod.metadata.uid} on node {node_name}"
            text = f"{note} (in kube-scheduler memory)."
            state.tell(victim, "Normal", "Preempted", "Preempting", text, preemptor)
        return stopped
