"""What a deployment reports: counts over its replica sets, and how its roll-out goes.

`kubectl rollout status` and `kubectl wait` read these; reasons and messages are upstream's
(`pkg/controller/deployment/progress.go`, `util/deployment_util.go`).
"""

from collections.abc import Sequence
from typing import Final

from podium.api.json_values import JsonObject
from podium.simulated_cluster.actions import reported
from podium.simulated_cluster.controllers.conditions import changed_condition
from podium.workloads.kinds import Deployment, ReplicaSet
from podium.workloads.moment import Moment
from podium.workloads.objects import condition_of
from podium.workloads.rollout import limits

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
    conditions = []
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
    if conditions:
        return {**counts, "conditions": conditions}, again_after_s
    return ({} if counts == reported(deployment.status, counts) else counts), again_after_s


def _counts(
    deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]
) -> dict[str, int]:
    total = sum(each.status.replicas for each in sets)
    available = sum(each.status.available_replicas for each in sets)
    return {
        "replicas": total,
        "updatedReplicas": new.status.replicas if new is not None else 0,
        "readyReplicas": sum(each.status.ready_replicas for each in sets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total - available),
        "observedGeneration": deployment.metadata.generation,
    }


def _progress(
    deployment: Deployment, new: ReplicaSet | None, counts: dict[str, int], moment: Moment
) -> tuple[JsonObject | None, float | None]:
    """The condition about progress, and when the roll-out will have taken too long."""
    deadline_s = deployment.spec.progress_deadline_seconds
    deadline_s = _DEADLINE_S if deadline_s is None else deadline_s
    if deadline_s == _NO_DEADLINE or new is None or deployment.spec.paused:
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
    if known is None or known.reason == "NewReplicaSetAvailable" or _moved(deployment, counts):
        text = f"{named} is progressing."
        updated = _condition(deployment, moment, "True", "ReplicaSetUpdated", text, always=True)
        return updated, float(deadline_s)
    if known.reason == "ProgressDeadlineExceeded":
        return None, None
    rest_s = deadline_s - moment.age_s(known.last_update_time)
    if rest_s > 0:
        return None, rest_s
    text = f"{named} has timed out progressing."
    return _condition(deployment, moment, "False", "ProgressDeadlineExceeded", text), None


def _moved(deployment: Deployment, counts: dict[str, int]) -> bool:
    before = reported(deployment.status, counts)
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
