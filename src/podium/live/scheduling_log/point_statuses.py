"""Lines about what PreFilter and PostFilter came to (upstream: `schedule_one.go`)."""

from podium.live.scheduling_log.attempts import UNHANDLED
from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.log import pod_ref
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code

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
