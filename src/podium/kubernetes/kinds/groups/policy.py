"""The kinds of the group `policy`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.rules.field_errors import invalid, not_supported
from podium.kubernetes.tables.printer import age_of, columns_of, name_of, spec_of, status_of
from podium.kubernetes.validation.field_values import check_not_negative, check_share
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.object_meta import ErrorList, Errors
from podium.kubernetes.validation.selectors import check_label_selector

_EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_BUDGET_COUNTS: Final = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _budget_errors(budget: JsonObject) -> Errors:
    """What is wrong with a PodDisruptionBudget, new or changed; names are checked for all kinds."""
    errors: Errors = ErrorList()
    spec: JsonObject = budget.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = go_form("policy", "PodDisruptionBudgetSpec", spec)
        detail = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid("spec", shown, detail))
    for field, share in (("minAvailable", least), ("maxUnavailable", most)):
        if share is not None:
            check_share(errors, share, f"spec.{field}")
    check_label_selector(errors, spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION_POLICIES:
        at = "spec.unhealthyPodEvictionPolicy"
        errors.append(not_supported(at, policy, _EVICTION_POLICIES))
    return errors


def _budget_update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    return _budget_errors(new)


def _budget_status_errors(new: JsonObject, _old: JsonObject) -> Errors:
    errors: Errors = ErrorList()
    check_not_negative(errors, new.get("status") or {}, _BUDGET_COUNTS, "status")
    return errors


def _budget(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [
        name_of(obj),
        _count_or_not(spec.get("minAvailable")),
        _count_or_not(spec.get("maxUnavailable")),
        status.get("disruptionsAllowed") or 0,
        age_of(obj, now),
    ]


def _count_or_not(count: int | str | None) -> str:
    return "N/A" if count is None else str(count)


_BUDGET: Final = Printer(
    columns_of("Name", "Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age"),
    _budget,
)

KINDS: Final = (
    Kind(
        "policy",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        ("pdb",),
        description="How many pods of a set may be evicted at a time.",
        has_status=True,
        validation=Validation(_budget_errors, _budget_update_errors, _budget_status_errors),
        strategy=WriteStrategy(
            empty_status={
                "disruptionsAllowed": 0,
                "currentHealthy": 0,
                "desiredHealthy": 0,
                "expectedPods": 0,
            },
            counted=("spec",),
        ),
        printer=_BUDGET,
    ),
)
