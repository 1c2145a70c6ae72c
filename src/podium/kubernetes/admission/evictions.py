"""Whether a pod may be evicted, and what that uses up of its disruption budget.

A pod that has ended, has not begun or is being deleted is no disruption and goes without asking.
Otherwise at most one budget may guard it; an eviction uses up one of the disruptions that the
budget's controller has allowed and notes the pod in the budget's status, so that the controller
does not count it as healthy any more (`pkg/registry/core/pod/storage/eviction.go`). A budget that
says no is answered with 429.
"""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors

_REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
    " support."
)
_MAX_DISRUPTED_PODS: Final = 2000
_RETRY_AFTER_S: Final = 10
_UNGUARDED_PHASES: Final = ("Succeeded", "Failed", "Pending")


def is_guarded(pod: JsonObject) -> bool:
    """Whether budgets are asked before the pod goes."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    return (pod.get("status") or {}).get("phase") not in _UNGUARDED_PHASES


def admit_eviction(pod: JsonObject, guarding: Sequence[JsonObject], now: str) -> JsonObject | None:
    """The budget of those that guard the pod, with the eviction in its status; None if it stays as
    it is. The budgets are changed in place. Raises StatusError."""
    if not is_guarded(pod) or not guarding:
        return None
    if len(guarding) > 1:
        raise status_errors.internal(_SEVERAL)
    (budget,) = guarding
    if not _is_ready(pod) and _lets_unready_go(budget):
        return None
    _use_up(budget, pod["metadata"]["name"], now)
    return budget


def _is_ready(pod: JsonObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _lets_unready_go(budget: JsonObject) -> bool:
    """Whether a pod that is not ready may go without using up a disruption."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired: int = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired


def _use_up(budget: JsonObject, pod_name: str, now: str) -> None:
    """Take one of the allowed disruptions for a pod, in the budget's status."""
    name = budget["metadata"]["name"]
    status = budget.setdefault("status", {})
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _too_many(
            f"The disruption budget {name} is still being processed by the server.",
            retry_after_s=_RETRY_AFTER_S,
        )
    allowed: int = status.get("disruptionsAllowed", 0)
    disrupted = status.get("disruptedPods") or {}
    if allowed < 0:
        raise _make_refusal(name, "pdb disruptions allowed is negative")
    if len(disrupted) > _MAX_DISRUPTED_PODS:
        raise _make_refusal(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        raise _too_many(_why_not(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _note_none_left(budget, now)
    status["disruptedPods"] = {**disrupted, pod_name: now}


def _why_not(name: str, status: JsonObject) -> str:
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if current <= desired:
        return (
            f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
    return f"The disruption budget {name} does not allow evicting pods currently"


def _note_none_left(budget: JsonObject, now: str) -> None:
    conditions: list[JsonObject] = budget["status"].setdefault("conditions", [])
    new = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": budget["status"].get("observedGeneration", 0),
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    for place, known in enumerate(conditions):
        if known["type"] == new["type"]:
            if known["status"] == new["status"]:
                new["lastTransitionTime"] = known["lastTransitionTime"]
            conditions[place] = new
            return
    conditions.append(new)


def _too_many(why: str, *, retry_after_s: int | None = None) -> status_errors.StatusError:
    details: JsonObject = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if retry_after_s is not None:
        details["retryAfterSeconds"] = retry_after_s
    return status_errors.too_many_requests(_REFUSED, details=details, retry_after_s=retry_after_s)


def _make_refusal(name: str, why: str) -> status_errors.StatusError:
    return status_errors.StatusError(
        403,
        "Forbidden",
        f'poddisruptionbudget.policy "{name}" is forbidden: {why}',
        {"name": name, "group": "policy", "kind": "poddisruptionbudget"},
    )
