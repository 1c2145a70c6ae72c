"""Lines about attempts: begun, failed, what pods are told of them (upstream: `schedule_one.go`)."""

from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.diagnosis import NO_NODES
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.queued import QueuedPod

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


class Outcomes(LineWriter):
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
