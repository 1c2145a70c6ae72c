"""Jobs: pods that run until enough of them have succeeded, or too many have failed.

Completions, parallelism, indexes, suspension, the deadline, the backoff limit with its growing
pauses and the time to live of finished jobs are carried out; failure policies, success policies
and limits per index are not (`pkg/controller/job`).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.api.json_values import JsonObject
from podium.client.resources import JOBS, PODS
from podium.simulated_cluster.actions import (
    NOTHING,
    Action,
    Create,
    Plan,
    delete,
    sooner,
    status_patch,
    without_finalizer,
)
from podium.simulated_cluster.control import Wake
from podium.simulated_cluster.controllers import job_counting
from podium.simulated_cluster.controllers.conditions import changed_condition
from podium.simulated_cluster.controllers.job_counting import TRACKING, has_failed, is_tracked
from podium.simulated_cluster.controllers.job_status import Situation, job_status, reported_status
from podium.simulated_cluster.controllers.ownership import (
    possible_pods,
    settle_ownership,
    wake_owners,
)
from podium.simulated_cluster.informers import Informers
from podium.workloads import job_indexes
from podium.workloads.jobs import JOB, job_pod, wanted_pods
from podium.workloads.kinds import Job
from podium.workloads.moment import Moment
from podium.workloads.objects import is_true, selector_or_nothing
from podium.workloads.pods import Pod, ended_at
from podium.workloads.scale_down import least_missed

_OWN_CONTROLLER: Final = (None, "", "kubernetes.io/job-controller")
_BACKOFF_LIMIT: Final = 6
_FIRST_PAUSE_S: Final = 10.0
_LONGEST_PAUSE_S: Final = 600.0
_BURST: Final = 500
_EXCEEDED: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LATE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_REACHED: Final = ("CompletionsReached", "Reached expected number of succeeded pods")


def decide(job: Job, pods: Sequence[Pod], moment: Moment) -> Plan:
    """`pods` are those that the job owns."""
    if job.spec.managed_by not in _OWN_CONTROLLER:
        return NOTHING
    if job.end is not None or job.metadata.is_terminating:
        return _afterwards(job, pods, moment)
    counted = job_counting.count(job, pods)
    active = [pod for pod in pods if pod.is_active]
    done = _done(job, pods)
    situation = Situation(job, pods, active, counted, done, moment)
    actions, conditions, again_after_s = _progress(situation)
    status = job_status(situation, conditions)
    if conditions or status != reported_status(job):
        status |= {"conditions": conditions} if conditions else {}
        actions.append(status_patch(JOBS, job, status))
    return Plan([*actions, *counted.actions], again_after_s)


def _done(job: Job, pods: Sequence[Pod]) -> set[int]:
    if not job.is_indexed:
        return set()
    fresh = job_indexes.indexes_of(pod for pod in pods if pod.status.phase == "Succeeded")
    below = job.spec.completions or 0
    return {i for i in job_indexes.read(job.status.completed_indexes) | fresh if i < below}


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
    situation: Situation,
) -> tuple[list[Action], list[JsonObject], float | None]:
    """Pods to make or remove, conditions to write, and when to look again."""
    verdict = _verdict(situation)
    if verdict is not None:
        return _ending(situation, *verdict)
    conditions = _suspension(situation)
    if situation.job.spec.suspend:
        return _unneeded(situation.active), conditions, None
    deadline_s = situation.job.spec.active_deadline_seconds
    rest_s = None
    if deadline_s is not None and situation.job.status.start_time:
        rest_s = deadline_s - situation.moment.age_s(situation.job.status.start_time)
    actions, pause_s = _pods(situation)
    return actions, conditions, sooner(rest_s, pause_s)


def _verdict(situation: Situation) -> tuple[str, str, str] | None:
    """(condition that announces the end, reason, message), if the job is to end."""
    job, moment = situation.job, situation.moment
    for condition in job.status.conditions or ():
        if condition.type in ("SuccessCriteriaMet", "FailureTarget") and condition.status == "True":
            return condition.type, condition.reason, condition.message
    limit = job.spec.backoff_limit
    limit = _BACKOFF_LIMIT if limit is None else limit
    if situation.counted.failed > limit or _restarts_exceed(situation, limit):
        return "FailureTarget", *_EXCEEDED
    deadline_s = job.spec.active_deadline_seconds
    started = job.status.start_time
    if deadline_s is not None and started and moment.age_s(started) >= deadline_s:
        return "FailureTarget", *_TOO_LATE
    completions = job.spec.completions
    if completions is None:
        complete = situation.succeeded > 0 and not situation.active
    else:
        complete = situation.succeeded >= completions and not job.spec.suspend
    return ("SuccessCriteriaMet", *_REACHED) if complete else None


def _restarts_exceed(situation: Situation, limit: int) -> bool:
    """upstream: pods that restart in place use up the limit with their restarts."""
    if situation.job.spec.template.spec.get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(pod.restarts for pod in situation.active)
    return restarts > 0 if limit == 0 else restarts >= limit


def _ending(
    situation: Situation, announced: str, reason: str, message: str
) -> tuple[list[Action], list[JsonObject], float | None]:
    """Announce the end, remove what still runs, and when all of it is gone, be over."""
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


def _suspension(situation: Situation) -> list[JsonObject]:
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


def _pods(situation: Situation) -> tuple[list[Action], float | None]:
    wanted = wanted_pods(situation.job, situation.succeeded, len(situation.active))
    missing = wanted - len(situation.active)
    if missing <= 0:
        return _unneeded(least_missed(situation.active)[:-missing] if missing else []), None
    pause_s = _pause(situation)
    if pause_s > 0:
        return [], pause_s
    return _new_pods(situation, min(missing, _BURST)), 0.0 if missing > _BURST else None


def _unneeded(pods: Sequence[Pod]) -> list[Action]:
    """Pods that the job itself gives up are not counted as failures."""
    tracked = [without_finalizer(PODS, pod, TRACKING) for pod in pods if is_tracked(pod)]
    return [*tracked, *(delete(PODS, pod) for pod in pods)]


def _pause(situation: Situation) -> float:
    """How long to wait after failures before more pods are made."""
    ends = [ended_at(pod) for pod in situation.pods if has_failed(pod)]
    last = max((end for end in ends if end), default=None)
    if last is None or not situation.counted.failed:
        return 0.0
    pause_s = min(_FIRST_PAUSE_S * 2.0 ** (situation.counted.failed - 1), _LONGEST_PAUSE_S)
    return pause_s - situation.moment.age_s(last)


def _new_pods(situation: Situation, missing: int) -> list[Action]:
    job = situation.job
    if not job.is_indexed:
        return [Create(PODS, job.namespace, job_pod(job, None, finalizers=[TRACKING]))] * missing
    taken = situation.done | job_indexes.indexes_of(situation.active)
    free = job_indexes.free(taken, job.spec.completions or 0, missing)
    return [
        Create(PODS, job.namespace, job_pod(job, index, finalizers=[TRACKING])) for index in free
    ]


class Jobs:
    """Keys are the namespace and name of a job."""

    name = "jobs"

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._jobs, self._pods = informers.jobs, informers.pods
        self._tracked = self._pods.index(_owning_job)

    def watch(self, wake: Wake) -> None:
        wake_owners(self._informers.pods, self._jobs, JOB, wake)

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
        pods, settled = _own_pods(job, possible_pods(self._informers, job.metadata))
        plan = decide(job, pods, moment)
        return Plan([*orphaned, *settled, *plan.actions], plan.again_after_s)


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
