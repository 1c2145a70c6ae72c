"""Lines about preemption: whether, where, of whom (upstream: `framework/preemption`)."""

from collections.abc import Sequence
from typing import Final

from podium.live.scheduling_log.attempts import UNHANDLED
from podium.live.scheduling_log.line_writer import LineWriter, group_ref
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.requests import GroupPreemptor, Preemptor
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins.default_preemption.plugin import (
    GROUP_HAS_PLACEMENTS,
    GROUP_PREEMPTS_ITSELF,
    GROUP_UNKNOWN,
    NEVER,
    NOT_HELPFUL,
    VICTIMS_TERMINATING,
)

_PLUGIN: Final = "PostFilter.DefaultPreemption"
_REFUSALS: Final = (
    GROUP_HAS_PLACEMENTS,
    GROUP_PREEMPTS_ITSELF,
    GROUP_UNKNOWN,
    NEVER,
    VICTIMS_TERMINATING,
)


class IneligiblePreemptors(LineWriter):
    level = 5

    def search_ended(self, decision: Decision) -> None:
        outcome = decision.post_filter
        for reason in outcome.reasons if outcome is not None else ():
            why = reason.removeprefix("preemption: ")
            if why in _REFUSALS:
                text = "Pod is not eligible for preemption"
                inside = self.inside(_PLUGIN)
                self.log.info(text, v=self.level, **inside, pod=pod_ref(decision.pod), reason=why)


class HopelessPreemptions(LineWriter):
    level = 3

    def search_ended(self, decision: Decision) -> None:
        if decision.diagnosis is not None and _found_nobody(decision):
            everywhere = f"{decision.diagnosis.node_count} {NOT_HELPFUL.message}."
            if decision.post_filter is not None and everywhere in decision.post_filter.message:
                text = "Preemption will not help schedule pod on any node"
                pod = pod_ref(decision.pod)
                self.log.info(text, v=self.level, **self.inside(_PLUGIN), pod=pod)


class Preemptions(LineWriter):
    level = 2

    def search_ended(self, decision: Decision) -> None:
        outcome, pod = decision.post_filter, pod_ref(decision.pod)
        if _found_nobody(decision):
            text = "No preemption candidate is found; preemption is not helpful for scheduling"
            self.log.info(text, v=self.level, **self.inside(_PLUGIN), pod=pod)
        elif outcome is not None and outcome.code is Code.SUCCESS and outcome.victims:
            text = "the target node for the preemption is determined"
            node = outcome.nominated_node or ""
            self.log.info(text, v=self.level, **self.inside(_PLUGIN), pod=pod, node=node)

    def preemption_started(
        self, preemptor: Preemptor, victims: Sequence[PodInfo], node_name: str
    ) -> None:
        who = _ref(preemptor)
        leaving = 0
        for victim in victims:
            if victim.terminating:
                self._write_victim(
                    "Victim Pod is already being deleted, skipping the API call for it",
                    preemptor,
                    victim,
                    node_name,
                )
            else:
                leaving += 1
        if self.engine.gates["SchedulerAsyncPreemption"]:
            self.log.info(
                "Start the preemption asynchronously",
                v=self.level,
                preemptor=who,
                node=node_name,
                numVictims=len(victims),
                numVictimsToDelete=leaving,
            )

    def victim_stopped(
        self, preemptor: Preemptor, victim: PodInfo, node_name: str, *, waiting: bool
    ) -> None:
        kind = "podgroup" if isinstance(preemptor, GroupPreemptor) else "pod"
        who = {"preemptorType": kind, "preemptor": _ref(preemptor)}
        if waiting:
            text, key = "Preemptor preempted a waiting pod", "waitingPod"
        else:
            text, key = "Preemptor rejected a pod in preBind", "podInPreBind"
        self.log.info(text, v=self.level, **who, **{key: pod_ref(victim)}, node=node_name)

    def victim_evicted(
        self, preemptor: Preemptor, victim: PodInfo, node_name: str, *, was_gone: bool
    ) -> None:
        text = "Victim Pod is already deleted" if was_gone else "Preemptor Pod preempted victim Pod"
        self._write_victim(text, preemptor, victim, node_name)

    def preemption_ended(
        self,
        preemptor: Preemptor,
        node_name: str,
        problem: str | None,
        seconds: float,  # noqa: ARG002
    ) -> None:
        if self.engine.gates["SchedulerAsyncPreemption"]:
            self.log.info(
                "Async Preemption finished completely",
                v=self.level,
                preemptor=_ref(preemptor),
                node=node_name,
                result="success" if problem is None else "error",
            )

    def _write_victim(
        self, text: str, preemptor: Preemptor, victim: PodInfo, node_name: str
    ) -> None:
        who, whom = _ref(preemptor), pod_ref(victim)
        self.log.info(text, v=self.level, preemptor=who, victim=whom, node=node_name)


class PreemptionErrors(LineWriter):
    level = 0

    def preemption_ended(
        self,
        preemptor: Preemptor,  # noqa: ARG002
        node_name: str,  # noqa: ARG002
        problem: str | None,
        seconds: float,  # noqa: ARG002
    ) -> None:
        if problem is not None:
            text = "Error occurred during async preemption"
            self.log.error(text, err=problem, logger=UNHANDLED)


def _found_nobody(decision: Decision) -> bool:
    """Whether preemption was tried and no node can be opened by it."""
    outcome = decision.post_filter
    return (
        outcome is not None and outcome.code is Code.UNSCHEDULABLE and outcome.nominated_node == ""
    )


def _ref(preemptor: Preemptor) -> ObjectRef:
    if isinstance(preemptor, GroupPreemptor):
        metadata = preemptor.group.metadata
        return group_ref(metadata.namespace, metadata.name)
    return pod_ref(preemptor)
