"""Lines about attempts: points, scores, extenders, and cycles that take long.

Lines about scores, one a node and plugin (upstream: `prioritizeNodes` in `schedule_one.go`).

Lines about what PreFilter and PostFilter came to (upstream: `schedule_one.go`).

Lines about extenders that fail and may (upstream: `schedule_one.go`).

Scheduling that takes long is logged with its steps (upstream: `k8s.io/utils/trace`). Whatever takes
100 ms or more is logged. Of its steps those are logged that took more than their share of that, and
all of them from verbosity 4 on:

    Trace[1496136167]: "Scheduling" namespace:default,name:web (16-Nov-2026 05:19:52.299) (total ...
    Trace[1496136167]: ---"Computing predicates done" 120ms (05:19:52.419)
    Trace[1496136167]: [150.466979ms] [150.466979ms] END
"""

from datetime import UTC, datetime
from typing import Final

from podium.golang.durations import Duration
from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.diagnosis import NO_NODES
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code

UNHANDLED = "UnhandledError"


class AttemptsAhead(LineWriter):
    level = 4

    def pod_popped(self, queued: QueuedPod) -> None:
        if not self.is_member(queued.info):
            pod = pod_ref(queued.info)
            self.log.info("About to try and schedule pod", v=self.level, pod=pod)


class Attempts(LineWriter):
    level = 3

    def pod_skipped(self, pod: PodInfo) -> None:
        self.log.info("Skip schedule deleting pod", v=self.level, pod=pod_ref(pod))

    def search_started(self, pod: PodInfo) -> None:
        if not self.is_member(pod):
            self.log.info("Attempting to schedule pod", v=self.level, pod=pod_ref(pod))


class FailedSearches(LineWriter):
    level = 3

    def search_ended(self, decision: Decision) -> None:
        profile = self.engine.profiles.get(decision.profile)
        no_fit = decision.chosen is None and decision.diagnosis is not None
        if no_fit and not decision.is_error and profile is not None and not profile.post_filter:
            text = "No PostFilter plugins are registered, so no preemption will be performed"
            self.log.info(text, v=self.level)


class AttemptErrors(LineWriter):
    """What is told at every verbosity: something broke, or a pod is not what it was."""

    level = 0

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        info = queued.info
        pod = pod_ref(info)
        decision = self.failed_decision(info)
        if decision is not None and decision.is_error:
            self._write_broken(decision, pod)
        if not (rejected and self._is_rejection(queued, message)):
            text = "Error scheduling pod; retrying"
            self.log.error(text, err=message, logger=UNHANDLED, pod=pod)
        current = self.engine.state.pods.get(info.key)
        if current is None:
            err = f'pod "{pod.name}" not found'
            self.log.info("Pod doesn't exist in informer cache", pod=pod, err=err)
        elif current.spec.node_name:
            text = "Pod has been assigned to node. Abort adding it back to queue."
            self.log.info(text, pod=pod, node=current.spec.node_name)

    def _write_broken(self, decision: Decision, pod: ObjectRef) -> None:
        if decision.chosen is None and decision.diagnosis is not None:
            self.log.error("Error selecting node for pod", err=decision.message or "", pod=pod)
        elif decision.broken_by:
            err = own_words(decision.message or "")
            self.log.error("Plugin failed", err=err, plugin=decision.broken_by, pod=pod)

    def _is_rejection(self, queued: QueuedPod, message: str) -> bool:
        """upstream: who is rejected once its binding has begun counts as an error here"""
        return bool(
            queued.rejectors or queued.pending or message == NO_NODES or self.is_member(queued.info)
        )


class OutcomeLines(LineWriter):
    """Pods that fit nowhere."""

    level = 2

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        info = queued.info
        pod = pod_ref(info)
        if rejected and message == NO_NODES:
            text = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
            self.log.info(text, v=self.level, pod=pod)
        elif rejected and (queued.rejectors or queued.pending):
            text = "Unable to schedule pod; no fit; waiting"
            self.log.info(text, v=self.level, pod=pod, err=message)
        elif rejected and self.is_member(info):
            text = "Unable to schedule pod belonging to a pod group; waiting"
            self.log.info(text, v=self.level, pod=pod, err=message)
        current = self.engine.state.pods.get(info.key)
        if current is not None and not current.spec.node_name and not info.is_about(current):
            text = (
                "Pod was recreated while handling scheduling failure."
                " Skip requeueing and status updates."
            )
            old, new = info.pod.metadata.uid, current.metadata.uid
            self.log.info(text, v=self.level, pod=pod, oldUID=old, newUID=new)


class RejectedPods(LineWriter):
    """Pods that a plugin rejects at Reserve or Permit, and those that are to wait."""

    level = 4

    def pod_decided(self, decision: Decision) -> None:
        refusal = decision.refused_by
        pod = pod_ref(decision.pod)
        if refusal is not None:
            by, why = refusal.plugin, refusal.message
            text = "Pod rejected by plugin"
            self.log.info(text, v=self.level, pod=pod, plugin=by, status=why)
        elif decision.waits_s:
            text = "One or more plugins asked to wait and no plugin rejected pod"
            self.log.info(text, v=self.level, pod=pod)


class StatusUpdates(LineWriter):
    level = 3

    def status_asked(self, pod: PodInfo, reason: str, nominated_node: str | None) -> None:
        fields: dict[str, ObjectRef | str | int] = {"pod": pod_ref(pod)}
        if reason:
            fields["conditionType"] = "PodScheduled"
            fields["conditionStatus"] = "False"
            fields["conditionReason"] = reason
        if nominated_node is not None:
            fields["nominatedNodeName"] = nominated_node
            fields["nominatingMode"] = 1
        text = "Updating pod condition and nominated node name"
        self.log.info(text, v=self.level, **fields)


def own_words(message: str) -> str:
    """What a plugin said, without the words in front of it: `running Reserve plugin "x": ...`."""
    before, quote, after = message.partition('": ')
    return after if quote and before.startswith("running ") else message


class ScoreLines(LineWriter):
    level = 10

    def search_ended(self, decision: Decision) -> None:
        total = decision.total
        if total is None:
            return
        pod = pod_ref(decision.pod)
        names = [decision.node_names[row] for row in decision.feasible.tolist()]
        extenders = {extender.url_prefix for extender in self.engine.configuration.extenders}
        for position, node in enumerate(names):
            for by, score in decision.node_scores(position).items():
                who = "extender" if by in extenders else "plugin"
                text = f"{who.capitalize()} scored node for pod"
                points = score.raw if by in extenders else score.weighted
                fields = {who: by, "node": node, "score": points}
                self.log.info(text, v=self.level, pod=pod, **fields)
        for node, points in zip(names, total.tolist(), strict=True):
            text = "Calculated node's final score for pod"
            self.log.info(text, v=self.level, pod=pod, node=node, score=points)


_POST_FILTER = "Status after running PostFilter plugins for pod"


class PreFilterStatuses(LineWriter):
    level = 5

    def search_ended(self, decision: Decision) -> None:
        status = decision.pre_filter.status if decision.pre_filter is not None else None
        if status is not None and status.code.rejected:
            pod, why = pod_ref(decision.pod), status.message
            text = "Status after running PreFilter plugins for pod"
            self.log.info(text, v=self.level, pod=pod, status=why)


class PostFilterStatuses(LineWriter):
    level = 5

    def search_ended(self, decision: Decision) -> None:
        outcome = decision.post_filter
        if outcome is not None and outcome.code is not Code.ERROR:
            pod = pod_ref(decision.pod)
            self.log.info(_POST_FILTER, v=self.level, pod=pod, status=outcome.message)


class PostFilterErrors(LineWriter):
    level = 0

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:  # noqa: ARG002
        decision = self.failed_decision(queued.info)
        outcome = decision.post_filter if decision is not None else None
        if outcome is not None and outcome.code is Code.ERROR:
            pod = pod_ref(queued.info)
            self.log.error(_POST_FILTER, logger=UNHANDLED, pod=pod, status=outcome.message)


class ExtenderLines(LineWriter):
    @classmethod
    def has_work(cls, engine: Engine) -> bool:
        return bool(engine.configuration.extenders)


class IgnoredExtenders(ExtenderLines):
    level = 0

    def search_ended(self, decision: Decision) -> None:
        verbs = {e.url_prefix: e.filter_verb for e in self.engine.configuration.extenders}
        for asked in decision.consulted:
            if asked.problem and asked.ignored and verbs.get(asked.url_prefix) == asked.verb:
                text = "Skipping extender as it returned error and has ignorable flag set"
                self.log.info(text, extender=asked.url_prefix, err=asked.problem)


class IgnoredBinders(ExtenderLines):
    level = 0

    def bind_started(self, binding: Binding, plugin: str) -> None:
        if plugin != binding.profile.bind[0].name:
            return
        for problem in binding.problems:
            extender, _, err = problem.removeprefix("skipped extender ").partition(": ")
            text = "Skipping extender in bind as it returned error and has ignorable flag set"
            self.log.info(text, extender=extender, err=err)


class IgnoredPriorities(ExtenderLines):
    level = 5

    def search_ended(self, decision: Decision) -> None:
        verbs = {e.url_prefix: e.prioritize_verb for e in self.engine.configuration.extenders}
        for asked in decision.consulted:
            if asked.problem and verbs.get(asked.url_prefix) == asked.verb:
                self.log.info(
                    "Failed to run extender's priority function. No score given by this extender.",
                    v=self.level,
                    error=asked.problem,
                    pod=pod_ref(decision.pod),
                    extender=asked.url_prefix,
                )


_THRESHOLD_S: Final = 0.1
_ALL_STEPS_FROM: Final = 4


class SlowCycles(LineWriter):
    level = 2

    def search_ended(self, decision: Decision) -> None:
        durations = decision.durations_s
        whole_s = durations.get("total", 0.0)
        total_s = whole_s - durations.get("post_filter", 0.0)
        if total_s < _THRESHOLD_S:
            return
        begun = self.engine.clock() - whole_s
        metadata = decision.pod.pod.metadata
        trace = f"Trace[{self.randomness.getrandbits(31)}]:"
        fields = f"namespace:{metadata.namespace},name:{metadata.name}"
        took = f"(total time: {int(total_s * 1000)}ms)"
        lines = [f'{trace} "Scheduling" {fields} ({_local(begun, "%d-%b-%Y ")}) {took}:']
        steps = _steps(decision)
        at = begun
        for name, seconds in steps:
            at += seconds
            share_s = _THRESHOLD_S / (len(steps) + 1)
            if seconds >= share_s or self.log.verbosity >= _ALL_STEPS_FROM:
                lines.append(f'{trace} ---"{name}" {int(seconds * 1000)}ms ({_local(at)})')
        exact = Duration.of_seconds(total_s)
        lines.append(f"{trace} [{exact}] [{exact}] END")
        self.log.lines(lines, v=self.level)


def _steps(decision: Decision) -> list[tuple[str, float]]:
    """The steps that came to an end, with their seconds."""
    durations = decision.durations_s
    steps: list[tuple[str, float]] = []
    if "filter" in durations and not (decision.is_error and decision.chosen is None):
        seconds = durations["pre_filter"] + durations["filter"]
        steps.append(("Computing predicates done", seconds))
        if "score" in durations and len(decision.feasible) > 1:
            steps.append(("Prioritizing done", durations["score"]))
    return steps


def _local(at: float, date: str = "") -> str:
    time = datetime.fromtimestamp(at, UTC).astimezone()
    return f"{time:{date}%H:%M:%S}.{time.microsecond // 1000:03d}"
