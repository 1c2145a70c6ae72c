"""Lines about what follows an attempt: preemption, binding cycles, pod groups.

Of preemption: whether, where, of whom (upstream: `framework/preemption`). Of binding cycles: waits
at Permit, Bind, and how they end (upstream: `schedule_one.go`, `framework/runtime/framework.go`,
`plugins/defaultbinder`). Of pod groups what upstream's `schedule_one_podgroup.go` logs.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np

from podium.live.scheduling_log.attempts import UNHANDLED, own_words
from podium.live.scheduling_log.line_writer import LineWriter, LogOfLines, as_set, group_ref
from podium.scheduler.cluster.catalog import GroupKey, group_of
from podium.scheduler.cluster.growth import indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.requests import GroupPreemptor, Preemptor
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.plugins.default_preemption.plugin import (
    GROUP_HAS_PLACEMENTS,
    GROUP_PREEMPTS_ITSELF,
    GROUP_UNKNOWN,
    NEVER,
    NOT_HELPFUL,
    VICTIMS_TERMINATING,
)

_BINDER: Final = "DefaultBinder"
_BIND: Final = f"Bind.{_BINDER}"


class PermitWaits(LineWriter):
    level = 4

    def wait_started(self, waiting: WaitingPod) -> None:
        self.log.info("Pod waiting on permit", v=self.level, pod=pod_ref(waiting.info))

    def wait_ended(self, waiting: WaitingPod, seconds: float) -> None:  # noqa: ARG002
        outcome = waiting.outcome
        if outcome is not None and outcome.code.rejected:
            pod, why = pod_ref(waiting.info), outcome.message
            text = "Pod rejected while waiting on permit"
            self.log.info(text, v=self.level, pod=pod, status=why)


class BindAttempts(LineWriter):
    level = 3

    def bind_started(self, binding: Binding, plugin: str) -> None:
        if plugin == _BINDER:
            pod, node = pod_ref(binding.cycle.pod), ObjectRef(binding.node_name)
            text = "Attempting to bind pod to node"
            self.log.info(text, v=self.level, **self.inside(_BIND), pod=pod, node=node)


class BoundPods(LineWriter):
    level = 2

    def __init__(self, engine: Engine, log: LogOfLines, randomness: Random) -> None:
        super().__init__(engine, log, randomness)
        self._counts: dict[str, tuple[int, int]] = {}

    def pod_decided(self, decision: Decision) -> None:
        if decision.bound is not None:
            counts = evaluated_nodes(decision), len(decision.feasible)
            self._counts[decision.pod.uid] = counts

    def pod_bound(self, binding: Binding) -> None:
        info = binding.cycle.pod
        evaluated, feasible = self._counts.pop(info.uid, (0, 0))
        pod = pod_ref(info)
        self.log.info(
            "Successfully bound pod to node",
            v=self.level,
            pod=pod,
            node=binding.node_name,
            evaluatedNodes=evaluated,
            feasibleNodes=feasible,
        )
        flight = self.engine.state.flights.get(info.uid)
        if flight is not None and flight.queued.flushed:
            queued = flight.queued
            self.log.info(
                "Pod scheduled after flush from unschedulablePods",
                v=4,
                pod=pod,
                unschedulablePlugins=as_set(queued.rejectors),
                pendingPlugins=as_set(queued.pending),
            )

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:  # noqa: ARG002
        self._counts.pop(queued.info.uid, None)


class FinishedBindings(LineWriter):
    """A line that kube-scheduler wrote until 1.33."""

    level = 5

    def pod_bound(self, binding: Binding) -> None:
        pod = pod_ref(binding.cycle.pod)
        self.log.info("Finished binding for pod, can be expired", v=self.level, pod=pod)


class FailedBindings(LineWriter):
    level = 1

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        if problem is not None and binding.prebound:
            self.log.info("Failed to bind pod", v=self.level, pod=pod_ref(queued.info))


class RejectedBindings(LineWriter):
    level = 4

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        if problem is not None and problem.code.rejected:
            point = "Bind" if binding.prebound else "PreBind"
            self.log.info(
                f"Pod rejected by {point} plugin",
                v=self.level,
                pod=pod_ref(queued.info),
                node=binding.node_name,
                plugin=problem.plugin,
                status=problem.message,
            )


class BindingErrors(LineWriter):
    level = 0

    def wait_ended(self, waiting: WaitingPod, seconds: float) -> None:  # noqa: ARG002
        outcome = waiting.outcome
        if outcome is None or outcome.code is Code.SUCCESS or outcome.code.rejected:
            return
        pod, err = pod_ref(waiting.info), outcome.message
        self.log.error("Failed waiting on permit for pod", err=err, pod=pod)

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        if problem is None or problem.code.rejected or not problem.plugin:
            return
        # upstream: at Bind the second word begins with a capital
        text = "Plugin Failed" if binding.prebound else "Plugin failed"
        err, pod = own_words(problem.message), pod_ref(queued.info)
        self.log.error(text, err=err, plugin=problem.plugin, pod=pod, node=binding.node_name)


def evaluated_nodes(decision: Decision) -> int:
    """How many nodes an attempt has looked at."""
    results = decision.results
    if len(results) == 1:
        return results[0].count
    seen = [indices(result.rows)[: result.count] for result in results]
    return len(np.unique(np.concatenate(seen))) if seen else 0


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


class PreemptionLines(LineWriter):
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


_OUTCOMES: Final = {
    "unschedulable": "Unable to schedule a pod group",
    "waiting_on_preemption": "Pod group is waiting for preemption",
}


class GroupAttempts(LineWriter):
    level = 3

    def group_started(self, group: GroupKey) -> None:
        text = "Attempting to schedule pod group"
        self.log.info(text, v=self.level, podGroup=group_ref(*group))


class GroupMembers(LineWriter):
    level = 4

    def search_started(self, pod: PodInfo) -> None:
        group = group_of(pod.pod) if self.is_member(pod) else None
        if group is not None:
            text = "Attempting to schedule a pod belonging to a pod group"
            ref = group_ref(*group)
            self.log.info(text, v=self.level, podGroup=ref, pod=pod_ref(pod))


class GroupOutcomes(LineWriter):
    level = 2

    def group_submitted(self, group: GroupKey, result: str, placed: int, unplaced: int) -> None:
        ref = group_ref(*group)
        if result == "scheduled":
            text = "Successfully scheduled a pod group"
            counts = {"scheduledPods": placed, "unschedulablePods": unplaced}
            self.log.info(text, v=self.level, podGroup=ref, **counts)
        elif result in _OUTCOMES:
            text = _OUTCOMES[result]
            self.log.info(text, v=self.level, podGroup=ref, unschedulablePods=unplaced)
