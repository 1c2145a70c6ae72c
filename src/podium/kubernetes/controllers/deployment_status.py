"""What a deployment reports: counts over its replica sets, and how its roll-out goes.

`kubectl rollout status` and `kubectl wait` read these; reasons and messages are upstream's
(`pkg/controller/deployment/progress.go`, `util/deployment_util.go`).
"""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import read_reported_fields
from podium.kubernetes.controllers.objects import changed_condition, condition_of
from podium.kubernetes.controllers.replica_sets import REPLICA_FAILURE
from podium.kubernetes.controllers.rollout import limits
from podium.kubernetes.controllers.workloads import Deployment, ReplicaSet
from podium.kubernetes.kinds.meta import Condition
from podium.kubernetes.rules.timestamps import Moment

CREATE_ERROR: Final = "ReplicaSetCreateError"
"""Why a deployment makes no progress whose replica set was refused."""
_NO_DEADLINE: Final = 2**31 - 1
_DEADLINE_S: Final = 600
_AVAILABLE: Final = (
    "True",
    "MinimumReplicasAvailable",
    "Deployment has minimum availability.",
)
_UNAVAILABLE: Final = (
    "False",
    "MinimumReplicasUnavailable",
    "Deployment does not have minimum availability.",
)


def deployment_status(
    deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet], moment: Moment
) -> tuple[JsonObject, float | None]:
    """The changes to report, none if there are none, and when the deadline is to be checked."""
    counts = _counts(deployment, new, sets)
    conditions: list[JsonObject] = []
    enough = deployment.wanted - limits(deployment).unavailable
    state = _AVAILABLE if counts["availableReplicas"] >= enough else _UNAVAILABLE
    available = changed_condition(
        deployment.status.conditions,
        moment,
        "Available",
        *state,
        lastUpdateTime=moment.timestamp,
    )
    if available is not None:
        conditions.append(available)
    progress, again_after_s = _progress(deployment, new, counts, moment)
    if progress is not None:
        conditions.append(progress)
    conditions += _failure(deployment, new, sets)
    if conditions:
        return {**counts, "conditions": conditions}, again_after_s
    return (
        {} if counts == read_reported_fields(deployment.status, counts) else counts
    ), again_after_s


def _counts(
    deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]
) -> dict[str, int]:
    wanted = sum(each.wanted for each in sets)
    available = sum(each.status.available_replicas for each in sets)
    return {
        "replicas": sum(each.status.replicas for each in sets),
        "updatedReplicas": new.status.replicas if new is not None else 0,
        "readyReplicas": sum(each.status.ready_replicas for each in sets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, wanted - available),
        "observedGeneration": deployment.metadata.generation,
    }


def _progress(
    deployment: Deployment, new: ReplicaSet | None, counts: dict[str, int], moment: Moment
) -> tuple[JsonObject | None, float | None]:
    """The condition about progress, and when the roll-out will have taken too long."""
    deadline_s = _deadline_s(deployment)
    if deadline_s is None or new is None or deployment.spec.paused:
        return None, None
    known = condition_of(deployment.status.conditions, "Progressing")
    named = f'ReplicaSet "{new.name}"'
    wanted = deployment.wanted
    complete = all(
        counts[count] == wanted for count in ("replicas", "updatedReplicas", "availableReplicas")
    )
    if complete:
        text = f"{named} has successfully progressed."
        return _condition(deployment, moment, "True", "NewReplicaSetAvailable", text), None
    begins = known is None or known.reason in ("NewReplicaSetAvailable", CREATE_ERROR)
    if begins or known is None or _has_progressed(deployment, counts):
        text = f"{named} is progressing."
        updated = _condition(deployment, moment, "True", "ReplicaSetUpdated", text, always=True)
        return updated, deadline_s
    if known.reason == "ProgressDeadlineExceeded":
        return None, None
    rest_s = deadline_s - moment.age_s(known.last_update_time)
    if rest_s > 0:
        return None, rest_s
    text = f"{named} has timed out progressing."
    return _condition(deployment, moment, "False", "ProgressDeadlineExceeded", text), None


def _deadline_s(deployment: Deployment) -> float | None:
    written = deployment.spec.progress_deadline_seconds
    deadline_s = _DEADLINE_S if written is None else written
    return None if deadline_s == _NO_DEADLINE else float(deadline_s)


def creation_failure(deployment: Deployment, message: str, moment: Moment) -> JsonObject | None:
    """The condition that tells that a new replica set was refused, unless it tells so already."""
    known = condition_of(deployment.status.conditions, "Progressing")
    if _deadline_s(deployment) is None or (known and known.reason == CREATE_ERROR):
        return None
    return _condition(deployment, moment, "False", CREATE_ERROR, message)


def _failure(
    deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]
) -> list[JsonObject]:
    """Pods that a replica set cannot make or remove are the deployment's failure, too: those of
    the new one before those of others."""
    known = condition_of(deployment.status.conditions, REPLICA_FAILURE)
    in_order = sorted(sets, key=lambda each: each is not new)
    found = (condition_of(each.status.conditions, REPLICA_FAILURE) for each in in_order)
    failure = next((each for each in found if each is not None), None)
    if failure is None:
        return [] if known is None else [{"type": REPLICA_FAILURE, "$patch": "delete"}]
    if known is not None and (known.status, known.reason) == (failure.status, failure.reason):
        return []
    return [_copy(failure)]


def _copy(failure: Condition) -> JsonObject:
    return {
        "type": REPLICA_FAILURE,
        "status": failure.status,
        "reason": failure.reason,
        "message": failure.message,
        "lastTransitionTime": failure.last_transition_time,
        "lastUpdateTime": failure.last_transition_time,
    }


def _has_progressed(deployment: Deployment, counts: dict[str, int]) -> bool:
    before = read_reported_fields(deployment.status, counts)
    old_pods = counts["replicas"] - counts["updatedReplicas"]
    return (
        any(
            counts[count] > before[count]
            for count in ("updatedReplicas", "readyReplicas", "availableReplicas")
        )
        or old_pods < before["replicas"] - before["updatedReplicas"]
    )


def _condition(
    deployment: Deployment,
    moment: Moment,
    status: str,
    reason: str,
    message: str,
    *,
    always: bool = False,
) -> JsonObject | None:
    present = deployment.status.conditions
    made = changed_condition(
        present,
        moment,
        "Progressing",
        status,
        reason,
        message,
        lastUpdateTime=moment.timestamp,
    )
    if made is None and always:
        return {"type": "Progressing", "lastUpdateTime": moment.timestamp}
    return made
