"""Requests for certificates: what each of their paths can change, and when conditions changed."""

from typing import Final

from podium.golang.json_values import JsonObject

_DECIDED: Final = ("Approved", "Denied")


def keep_decisions(new: JsonObject, old: JsonObject, now: str) -> None:
    """A write to the status: conditions that are a decision stay as they are."""
    conditions = _conditions(new)
    for kind in _DECIDED:
        before = [each for each in _conditions(old) if each.get("type") == kind]
        places = [index for index, each in enumerate(conditions) if each.get("type") == kind]
        if len(before) == len(places):
            for index, condition in zip(places, before, strict=True):
                conditions[index] = condition
    _date_conditions(new, old, now)


def keep_all_but_conditions(new: JsonObject, old: JsonObject, now: str) -> None:
    """A write to the approval."""
    _date_conditions(new, old, now)
    conditions = _conditions(new)
    new["status"] = dict(old.get("status") or {})
    new["status"].pop("conditions", None)
    if conditions:
        new["status"]["conditions"] = conditions


def _conditions(request: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = (request.get("status") or {}).get("conditions") or []
    return found


def _date_conditions(new: JsonObject, old: JsonObject, now: str) -> None:
    for condition in _conditions(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if condition.get("lastTransitionTime"):
            continue
        same = (
            each["lastTransitionTime"]
            for each in _conditions(old)
            if each.get("lastTransitionTime")
            and (each.get("type"), each.get("status"))
            == (condition.get("type"), condition.get("status"))
        )
        condition["lastTransitionTime"] = next(same, now)
