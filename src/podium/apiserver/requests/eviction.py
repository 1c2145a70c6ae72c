"""Evicting a pod: a deletion that disruption budgets may refuse.

A pod that has ended, has not begun or is being deleted is no disruption and goes without asking.
Otherwise at most one budget may guard it; an eviction uses up one of the disruptions that the
budget's controller has allowed and notes the pod in the budget's status, so that the controller
does not count it as healthy any more. A budget that says no is answered with 429.
"""

from dataclasses import replace
from typing import Final

from podium.apiserver.requests import query
from podium.apiserver.requests.binding import set_condition
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import place_in_namespace
from podium.apiserver.requests.deleting import check_preconditions, delete
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.query import DeleteOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.rules.label_selector_objects import object_selector
from podium.kubernetes.schema import schema_of

_REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
    " support."
)
_MAX_DISRUPTED_PODS: Final = 2000
_RETRY_AFTER_S: Final = 10
_UNGUARDED_PHASES: Final = ("Succeeded", "Failed", "Pending")


def evict(
    registry: Registry, namespace: str, name: str, eviction: JsonObject, call: Call
) -> JsonObject:
    if eviction["metadata"].get("name", "") != name:
        raise status_errors.bad_request("name in URL does not match name in Eviction object")
    pods = registry.table.named("pods")
    place_in_namespace(pods, namespace, eviction["metadata"])
    options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    dry_run = options.dry_run or call.options.dry_run
    where = (registry, pods, namespace, name, eviction, None, call)
    schema = schema_of("policy", "v1", "Eviction")
    if mutate_write(*where, subresource="eviction", dry_run=dry_run, schema=schema):
        options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    review_write(*where, subresource="eviction", dry_run=dry_run)
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    if not _needs_no_leave(pod):
        _ask_budgets(registry, namespace, pod, before, dry_run=dry_run, call=call)
    _delete(registry, namespace, name, options, call, dry_run=dry_run)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _needs_no_leave(pod: JsonObject) -> bool:
    if pod["metadata"].get("deletionTimestamp"):
        return True
    return (pod.get("status") or {}).get("phase") in _UNGUARDED_PHASES


def _ask_budgets(
    registry: Registry,
    namespace: str,
    pod: JsonObject,
    version: Stored,
    *,
    dry_run: bool,
    call: Call,
) -> None:
    guarding = _guarding(registry, namespace, version)
    if len(guarding) > 1:
        raise status_errors.internal(_SEVERAL)
    for stored in guarding:
        budgets = registry.table.named("poddisruptionbudgets", "policy")
        budget = registry.read(budgets, stored)
        if not _is_ready(pod) and _lets_unready_go(budget):
            return
        _use_up(budget, pod["metadata"]["name"], call)
        if not dry_run:
            registry.replace(budgets, stored, budget, dry_run=False)


def _guarding(registry: Registry, namespace: str, pod: Stored) -> list[Stored]:
    """The budgets whose selectors match the pod's labels."""
    budgets = registry.table.named("poddisruptionbudgets", "policy")
    found: list[Stored] = []
    for stored in registry.collection(budgets).current(namespace):
        written = (stored.decoded(budgets).get("spec") or {}).get("selector")
        if object_selector(written).matches(pod.labels):
            found.append(stored)
    return found


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


def _use_up(budget: JsonObject, pod_name: str, call: Call) -> None:
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
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(disrupted) > _MAX_DISRUPTED_PODS:
        raise _forbidden(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        raise _too_many(_why_not(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _note_none_left(budget, call.now)
    status["disruptedPods"] = {**disrupted, pod_name: call.now}


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


def _forbidden(name: str, why: str) -> status_errors.StatusError:
    return status_errors.StatusError(
        403,
        "Forbidden",
        f'poddisruptionbudget.policy "{name}" is forbidden: {why}',
        {"name": name, "group": "policy", "kind": "poddisruptionbudget"},
    )


def _delete(
    registry: Registry,
    namespace: str,
    name: str,
    options: DeleteOptions,
    call: Call,
    *,
    dry_run: bool,
) -> None:
    """Tell in the pod's status why it goes, and delete it."""
    pods = registry.table.named("pods")
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    check_preconditions(pods, pod["metadata"], options)
    set_condition(
        pod,
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        },
        call.now,
    )
    registry.replace(pods, before, pod, dry_run=dry_run)
    # The preconditions held for the version before the condition was written.
    unconditional = replace(options, uid=None, resource_version=None, dry_run=dry_run)
    delete(registry, pods, namespace, name, unconditional, call, reviewed=False)
