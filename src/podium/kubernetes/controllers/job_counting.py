"""Counting the pods of a job that have ended, each exactly once.

A pod of a job carries a finalizer until it was counted. First its uid is written into the job's
status as uncounted, then the finalizer goes, then the uid leaves the status and the count grows by
one. So whatever is interrupted, and whoever deletes pods meanwhile, no pod is lost or counted
twice (`pkg/controller/job/job_controller.go`, trackJobStatusAndRemoveFinalizers).

Limits per index: how often each index of a job has failed, and which have failed for good. Every
pod carries in an annotation how many pods of its index failed before it. So that the number is not
lost, the last failed pod of an index keeps its finalizer until the next one is there
(`pkg/controller/job/indexed_job_utils.go`).
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, without_finalizer
from podium.kubernetes.controllers.job_pods import index_of
from podium.kubernetes.controllers.job_policies import match_failure, read_indexes
from podium.kubernetes.controllers.pods import Pod, ended_at
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
    succeeded, left_succeeded = _settle_count(status.succeeded, known.succeeded, tracked)
    failed, left_failed = _settle_count(status.failed, known.failed, tracked)
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


def encode_counts(status: JobStatus) -> JsonObject:
    known = status.uncounted_terminated_pods or _NONE
    kept = {"succeeded": list(known.succeeded or ()), "failed": list(known.failed or ())}
    return {
        "succeeded": status.succeeded,
        "failed": status.failed,
        "uncountedTerminatedPods": {name: uids or None for name, uids in kept.items()},
    }


def _settle_count(
    counted: int, uncounted: tuple[str, ...] | None, tracked: dict[str, Pod]
) -> tuple[int, list[str]]:
    """The count with those whose finalizer is gone, and those that still have it."""
    left = [uid for uid in uncounted or () if uid in tracked]
    return counted + len(uncounted or ()) - len(left), left


FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED: Final = "batch.kubernetes.io/job-index-ignored-failure-count"


def failed_indexes(job: Job, pods: Sequence[Pod]) -> set[int]:
    """Those that are not tried again, by the job's status and by its pods."""
    limit, below = job.spec.backoff_limit_per_index, job.spec.completions or 0
    if limit is None:
        return set()
    found = read_indexes(job.status.failed_indexes or "", below)
    for pod in pods:
        index = index_of(pod)
        if index is None or index >= below or not is_tracked(pod) or not has_failed(job, pod):
            continue
        match = match_failure(job.spec.pod_failure_policy, pod)
        if match.action == "FailIndex" or (match.counts and count_of(pod, FAILURES) >= limit):
            found.add(index)
    return found


def held_pods(job: Job, pods: Sequence[Pod], settled: set[int]) -> dict[int, Pod]:
    """By index the pod whose failures its successor has yet to take over; `settled` need none."""
    if job.spec.backoff_limit_per_index is None:
        return {}
    held: dict[int, Pod] = {}
    for pod in pods:
        index = index_of(pod)
        if index is None or index in settled or not is_tracked(pod) or not has_failed(job, pod):
            continue
        if index not in held or _age(held[index]) <= _age(pod):
            held[index] = pod
    return held


def _age(pod: Pod) -> tuple[int, str]:
    return failures_so_far(pod), ended_at(pod) or ""


def failures_so_far(pod: Pod) -> int:
    """How many pods of its index failed before, ignored ones included."""
    return count_of(pod, FAILURES) + count_of(pod, IGNORED)


def failure_marks(job: Job, predecessor: Pod | None) -> dict[str, str]:
    """The annotations of a new pod of an index."""
    if job.spec.backoff_limit_per_index is None:
        return {}
    if predecessor is None:
        return {FAILURES: "0"}
    counts = match_failure(job.spec.pod_failure_policy, predecessor).counts
    failed = count_of(predecessor, FAILURES) + counts
    ignored = count_of(predecessor, IGNORED) + (not counts)
    return {FAILURES: str(failed)} | ({IGNORED: str(ignored)} if ignored else {})


def count_of(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotation(annotation)
    return int(text) if text.isdecimal() and len(text) < 10 else 0
