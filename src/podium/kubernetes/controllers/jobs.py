"""Jobs: pods that run until enough of them have succeeded, or too many have failed.

Completions, parallelism, indexes, suspension, the deadline, the backoff limit with its growing
pauses, limits per index, failure and success policies and the time to live of finished jobs are
carried out (`pkg/controller/job`).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import job_counting, job_pods
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    plan_without_pods,
    sooner,
    status_patch,
    without_finalizer,
)
from podium.kubernetes.controllers.job_counting import (
    TRACKING,
    failed_indexes,
    failure_marks,
    failures_so_far,
    has_failed,
    held_pods,
    is_tracked,
)
from podium.kubernetes.controllers.job_pods import JOB, job_pod, wanted_pods
from podium.kubernetes.controllers.job_policies import match_failure, read_indexes
from podium.kubernetes.controllers.job_status import (
    JobSituation,
    JobVerdict,
    find_verdict,
    job_status,
    reported_status,
)
from podium.kubernetes.controllers.objects import changed_condition, is_true
from podium.kubernetes.controllers.ownership import (
    possible_pods,
    settle_ownership,
    wake_owners,
)
from podium.kubernetes.controllers.pods import Pod, ended_at, least_missed
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import Job
from podium.kubernetes.resources.resource_types import JOBS, PODS
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

_OWN_CONTROLLER: Final = (None, "", "kubernetes.io/job-controller")
_FIRST_PAUSE_S: Final = 10.0
_LONGEST_PAUSE_S: Final = 600.0
BURST: Final = 500
_COMPONENT: Final = "job-controller"


def decide(job: Job, pods: Sequence[Pod], moment: Moment, burst: int = BURST) -> Plan:
    """`pods` are those that the job owns; no more than `burst` are made at once. With 0 none ever
    will be, so that no pod is held until its successor is there."""
    if job.spec.managed_by not in _OWN_CONTROLLER:
        return NOTHING
    if job.end is not None or job.metadata.is_terminating:
        return _afterwards(job, pods, moment)
    active = [pod for pod in pods if pod.is_active]
    done, failed = _done(job, pods), failed_indexes(job, pods)
    settled = done | failed | job_pods.indexes_of(active)
    held = {} if job.announcement or not burst else held_pods(job, pods, settled)
    counted = job_counting.count(job, pods, {pod.metadata.uid for pod in held.values()})
    situation = JobSituation(job, pods, active, counted, done, failed, held, moment, burst)
    actions, conditions, again_after_s = _progress(situation)
    status = job_status(situation, conditions)
    if conditions or status != reported_status(job):
        status |= {"conditions": conditions} if conditions else {}
        actions.append(status_patch(JOBS, job, status))
    return Plan([*actions, *counted.actions], again_after_s)


def _done(job: Job, pods: Sequence[Pod]) -> set[int]:
    if not job.is_indexed:
        return set()
    fresh = job_pods.indexes_of(pod for pod in pods if pod.status.phase == "Succeeded")
    below = job.spec.completions or 0
    return {i for i in read_indexes(job.status.completed_indexes, below) | fresh if i < below}


def _afterwards(job: Job, pods: Sequence[Pod], moment: Moment) -> Plan:
    """Let go of the pods, and of the job itself when its time has come."""
    actions = [without_finalizer(PODS, pod, TRACKING) for pod in pods if is_tracked(pod)]
    ttl_s = job.spec.ttl_seconds_after_finished
    if ttl_s is None or job.end is None or job.metadata.is_terminating:
        return Plan(list(actions))
    rest_s = ttl_s - moment.age_s(job.end.last_transition_time)
    if rest_s > 0:
        return Plan(list(actions), rest_s)
    return Plan([*actions, delete(JOBS, job, propagation="Foreground")])


# --- what to do -------------------------------------------------------------------------------


def _progress(
    situation: JobSituation,
) -> tuple[list[Action], list[JsonObject], float | None]:
    """Pods to make or remove, conditions to write, and when to look again."""
    verdict = find_verdict(situation)
    if verdict is not None:
        return _end_job(situation, verdict)
    conditions = _suspension(situation)
    if situation.job.spec.suspend:
        return _remove_unneeded_pods(situation.active), conditions, None
    deadline_s = situation.job.spec.active_deadline_seconds
    rest_s = None
    if deadline_s is not None and situation.job.status.start_time:
        rest_s = deadline_s - situation.moment.age_s(situation.job.status.start_time)
    actions, pause_s = _pods(situation)
    return actions, conditions, sooner(rest_s, pause_s)


def _end_job(
    situation: JobSituation, verdict: JobVerdict
) -> tuple[list[Action], list[JsonObject], float | None]:
    """Announce the end, remove what still runs, and when all of it is gone, be over."""
    announced, reason, message = verdict
    present = situation.job.status.conditions
    moment = situation.moment
    probe = {"lastProbeTime": moment.timestamp}
    removal: list[Action] = [delete(PODS, pod) for pod in situation.active]
    conditions = [changed_condition(present, moment, announced, "True", reason, message, **probe)]
    is_announced = is_true(present, announced)
    is_quiet = all(pod.is_ended for pod in situation.pods) and situation.counted.is_complete
    if is_announced and is_quiet:
        final = "Complete" if announced == "SuccessCriteriaMet" else "Failed"
        conditions.append(
            changed_condition(present, moment, final, "True", reason, message, **probe)
        )
    return removal, [each for each in conditions if each is not None], None


def _suspension(situation: JobSituation) -> list[JsonObject]:
    job, moment = situation.job, situation.moment
    if job.spec.suspend:
        state = ("True", "JobSuspended", "Job suspended")
    elif is_true(job.status.conditions, "Suspended"):
        state = ("False", "JobResumed", "Job resumed")
    else:
        return []
    probe = {"lastProbeTime": moment.timestamp}
    made = changed_condition(job.status.conditions, moment, "Suspended", *state, **probe)
    return [] if made is None else [made]


def _pods(situation: JobSituation) -> tuple[list[Action], float | None]:
    wanted = wanted_pods(situation.job, situation.succeeded, len(situation.active))
    missing = wanted - len(situation.active)
    if missing < 0:
        return _remove_unneeded_pods(least_missed(situation.active)[:-missing]), None
    if situation.job.replaces_only_failed:
        missing -= situation.terminating
    if missing <= 0:
        return [], None
    if situation.job.is_indexed:
        return _new_indexes(situation, min(missing, situation.burst))
    pause_s = _pause(situation)
    if pause_s > 0:
        return [], pause_s
    body = job_pod(situation.job, None, finalizers=[TRACKING])
    made = [CreateAction(PODS, situation.job.namespace, body)] * min(missing, situation.burst)
    return list(made), 0.0 if missing > situation.burst else None


def _remove_unneeded_pods(pods: Sequence[Pod]) -> list[Action]:
    """Pods that the job itself gives up are not counted as failures."""
    tracked = [without_finalizer(PODS, pod, TRACKING) for pod in pods if is_tracked(pod)]
    return [*tracked, *(delete(PODS, pod) for pod in pods)]


def _pause(situation: JobSituation) -> float:
    """How long to wait after failures before more pods are made."""
    job = situation.job
    failed = [pod for pod in situation.pods if has_failed(job, pod)]
    last = max((end for pod in failed if (end := ended_at(pod))), default=None)
    ignored = sum(not match_failure(job.spec.pod_failure_policy, pod).counts for pod in failed)
    return _rest_of_pause(situation.counted.failed + ignored, last, situation.moment)


def _rest_of_pause(failures: int, last: str | None, moment: Moment) -> float:
    if last is None or not failures:
        return 0.0
    pause_s = min(_FIRST_PAUSE_S * 2.0 ** min(failures - 1, BURST), _LONGEST_PAUSE_S)
    return pause_s - moment.age_s(last)


def _new_indexes(situation: JobSituation, missing: int) -> tuple[list[Action], float | None]:
    job, held = situation.job, situation.held
    taken = situation.done | situation.failed_indexes | job_pods.indexes_of(situation.active)
    if job.replaces_only_failed:
        terminating = (pod for pod in situation.pods if pod.metadata.is_terminating)
        taken |= job_pods.indexes_of(pod for pod in terminating if not pod.is_ended)
    free = job_pods.free(taken, job.spec.completions or 0, missing)
    if job.spec.backoff_limit_per_index is None:
        pauses_s = dict.fromkeys(free, _pause(situation))
    else:
        pauses_s = {index: _index_pause(held.get(index), situation.moment) for index in free}
    ready = [index for index in free if pauses_s[index] <= 0]
    if not ready:
        return [], min(pauses_s.values(), default=None)
    return [_new_index(job, index, held.get(index)) for index in ready], None


def _index_pause(predecessor: Pod | None, moment: Moment) -> float:
    if predecessor is None:
        return 0.0
    failures = failures_so_far(predecessor) + 1
    return _rest_of_pause(failures, ended_at(predecessor), moment)


def _new_index(job: Job, index: int, predecessor: Pod | None) -> Action:
    marks = failure_marks(job, predecessor)
    body = job_pod(job, index, annotations=marks, finalizers=[TRACKING])
    return CreateAction(PODS, job.namespace, body)


class Jobs:
    """Keys are the namespace and name of a job."""

    name = "jobs"

    def __init__(self, stores: Stores, burst: int = BURST) -> None:
        self._stores = stores
        self._burst = burst
        self._jobs, self._pods = stores.jobs, stores.pods
        self._tracked = self._pods.indexer.add_index("job", _owning_job)

    def watch(self, wake: Wake) -> None:
        wake_owners(self._stores.pods, self._jobs, JOB, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        job = self._jobs.find(key)
        uid = job.metadata.uid if job is not None else ""
        # Pods of a job that is not there any more are not held for it.
        orphaned: list[Action] = [
            without_finalizer(PODS, pod, TRACKING)
            for pod in self._tracked.of(key)
            if pod.metadata.controller is not None and pod.metadata.controller.uid != uid
        ]
        if job is None:
            return Plan(orphaned)
        pods, settled = _own_pods(job, possible_pods(self._stores, job.metadata))
        plan = decide(job, pods, moment, self._burst)
        return Plan([*orphaned, *settled, *plan.actions], plan.again_after_s)

    def plan_without_creations(self, key: tuple[str, str], moment: Moment) -> Plan:
        """Pods are counted and let go."""
        job = self._jobs.find(key)
        if job is None:
            return NOTHING
        pods, settled = _own_pods(job, possible_pods(self._stores, job.metadata))
        return Plan([*settled, *decide(job, pods, moment, burst=0).actions])

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        """Pods that have ended are counted, whether or not others can be made."""
        job = self._jobs.find(key)
        if job is None:
            return NOTHING
        return plan_without_pods(job, self.plan(key, moment), _COMPONENT, problem, moment)


def _own_pods(job: Job, candidates: Sequence[Pod]) -> tuple[list[Pod], list[Action]]:
    """The pods that belong to a job, and what has to be written for that."""
    uid = job.metadata.uid
    if job.spec.managed_by not in _OWN_CONTROLLER or job.spec.selector is None:
        return [pod for pod in candidates if _is_controlled_by(pod, uid)], []
    if job.end is not None:
        # upstream: a job that is over is not looked at, so it takes nothing in.
        candidates = [pod for pod in candidates if _is_controlled_by(pod, uid)]
    selector = selector_or_nothing(job.spec.selector)
    return settle_ownership(JOB, job.metadata, selector, PODS, candidates, finalizer=TRACKING)


def _is_controlled_by(pod: Pod, uid: str) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.uid == uid


def _owning_job(pod: Pod) -> Iterable[tuple[str, str]]:
    """The key of the job that a pod is tracked for."""
    owner = pod.metadata.controller
    if owner is None or owner.kind != JOB.name or not is_tracked(pod):
        return ()
    return ((pod.namespace, owner.name),)
