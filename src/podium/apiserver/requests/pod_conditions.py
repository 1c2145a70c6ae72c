"""Conditions in a pod's status, as the server itself writes them."""

from podium.golang.json_values import JsonObject


def set_condition(pod: JsonObject, condition: JsonObject, now: str) -> None:
    """Add a condition or replace the one of its type.

    The time of the last transition stays when the status does.
    """
    status = pod.setdefault("status", {})
    conditions: list[JsonObject] = status.setdefault("conditions", [])
    new: JsonObject = {"lastProbeTime": None, "lastTransitionTime": now, **condition}
    for place, known in enumerate(conditions):
        if known["type"] == condition["type"]:
            if known["status"] == condition["status"]:
                new["lastTransitionTime"] = known.get("lastTransitionTime")
            conditions[place] = new
            return
    conditions.append(new)
