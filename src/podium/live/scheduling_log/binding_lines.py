"""Lines about binding cycles: waits at Permit, Bind, and how they end (upstream:
`schedule_one.go`, `framework/runtime/framework.go`, `plugins/defaultbinder`)."""

from random import Random
from typing import Final

import numpy as np

from podium.live.scheduling_log.attempts import own_words
from podium.live.scheduling_log.line_writer import LineWriter, LogOfLines, as_set
from podium.scheduler.cluster.growth import indices
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code, Status

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
