"""Limits per index: how often each index of a job has failed, and which have failed for good.

Every pod carries in an annotation how many pods of its index failed before it. So that the number
is not lost, the last failed pod of an index keeps its finalizer until the next one is there
(`pkg/controller/job/indexed_job_utils.go`).
"""

from collections.abc import Sequence
from typing import Final

from podium.kubernetes.controllers.job_counting import has_failed, is_tracked
from podium.kubernetes.controllers.job_pods import index_of
from podium.kubernetes.controllers.job_policies import match_failure
from podium.kubernetes.controllers.pods import Pod, ended_at
from podium.kubernetes.controllers.workloads import Job
from podium.kubernetes.rules.index_ranges import read_indexes

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
