"""Counting the pods of a job that have ended, each exactly once.

A pod of a job carries a finalizer until it was counted. First its uid is written into the job's
status as uncounted, then the finalizer goes, then the uid leaves the status and the count grows by
one. So whatever is interrupted, and whoever deletes pods meanwhile, no pod is lost or counted
twice (`pkg/controller/job/job_controller.go`, trackJobStatusAndRemoveFinalizers).
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.actions import Action, without_finalizer
from podium.kubernetes.controllers.job_policies import match_failure
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import Job, JobStatus, Uncounted
from podium.kubernetes.resources.resource_types import PODS

TRACKING: Final = "batch.kubernetes.io/job-tracking"
_NONE: Final = Uncounted()


class Count(NamedTuple):
    succeeded: int
    failed: int
    """Both with the pods that are yet uncounted."""
    status: JsonObject
    """The fields of the job's status that keep the count."""
    actions: list[Action]
    """Finalizers that can go."""

    @property
    def is_complete(self) -> bool:
        """Whether every pod that has ended is in the counts."""
        return not any(self.status["uncountedTerminatedPods"].values())


def has_failed(job: Job, pod: Pod) -> bool:
    """upstream: a pod on its way out has failed, unless it has succeeded or is to be waited for."""
    if pod.status.phase == "Succeeded":
        return False
    if pod.status.phase == "Failed":
        return True
    return pod.metadata.is_terminating and (
        not job.replaces_only_failed or job.announcement is not None
    )


def is_tracked(pod: Pod) -> bool:
    return TRACKING in (pod.metadata.finalizers or ())


def count(job: Job, pods: Sequence[Pod], held: Collection[str] = ()) -> Count:
    """`held` are the uids of failed pods that are kept as they are for now."""
    status = job.status
    known = status.uncounted_terminated_pods or _NONE
    tracked = {pod.metadata.uid: pod for pod in pods if is_tracked(pod)}
    written = {*(known.succeeded or ()), *(known.failed or ())}
    actions: list[Action] = [
        without_finalizer(PODS, pod, TRACKING) for uid, pod in tracked.items() if uid in written
    ]
    succeeded, left_succeeded = _settled(status.succeeded, known.succeeded, tracked)
    failed, left_failed = _settled(status.failed, known.failed, tracked)
    waiting = 0
    for uid, pod in tracked.items():
        if uid in written:
            continue
        if pod.status.phase == "Succeeded":
            left_succeeded.append(uid)
        elif has_failed(job, pod):
            if not match_failure(job.spec.pod_failure_policy, pod).counts:
                if uid not in held:
                    actions.append(without_finalizer(PODS, pod, TRACKING))
            elif uid in held:
                waiting += 1
            else:
                left_failed.append(uid)
    kept = {"succeeded": left_succeeded or None, "failed": left_failed or None}
    counted = {"succeeded": succeeded, "failed": failed, "uncountedTerminatedPods": kept}
    all_failed = failed + len(left_failed) + waiting
    return Count(succeeded + len(left_succeeded), all_failed, counted, actions)


def reported(status: JobStatus) -> JsonObject:
    known = status.uncounted_terminated_pods or _NONE
    kept = {"succeeded": list(known.succeeded or ()), "failed": list(known.failed or ())}
    return {
        "succeeded": status.succeeded,
        "failed": status.failed,
        "uncountedTerminatedPods": {name: uids or None for name, uids in kept.items()},
    }


def _settled(
    counted: int, uncounted: tuple[str, ...] | None, tracked: dict[str, Pod]
) -> tuple[int, list[str]]:
    """The count with those whose finalizer is gone, and those that still have it."""
    left = [uid for uid in uncounted or () if uid in tracked]
    return counted + len(uncounted or ()) - len(left), left
