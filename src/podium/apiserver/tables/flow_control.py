"""Flow schemas and priority levels."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.tables.printer import (
    NONE,
    Cells,
    Printer,
    age_of,
    columns_of,
    name_of,
    spec_of,
    status_of,
)


def _flow_schema(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    method = spec.get("distinguisherMethod")
    return [
        name_of(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        spec.get("matchingPrecedence") or 0,
        NONE if method is None else method.get("type", ""),
        age_of(obj, now),
        _dangling(obj),
    ]


def _dangling(obj: JsonObject) -> str:
    for condition in status_of(obj).get("conditions") or ():
        if condition.get("type") == "Dangling":
            return str(condition.get("status") or "")
    return "?"


def _priority_level(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    limited = spec.get("limited")
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    shares = NONE if limited is None else limited.get("nominalConcurrencyShares", 0)
    queues = [
        NONE if queuing is None else queuing.get(field, 0)
        for field in ("queues", "handSize", "queueLengthLimit")
    ]
    return [name_of(obj), spec.get("type") or "", shares, *queues, age_of(obj, now)]


FLOW_SCHEMA: Final = Printer(
    columns_of(
        "Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"
    ),
    _flow_schema,
)
PRIORITY_LEVEL: Final = Printer(
    columns_of(
        "Name",
        "Type",
        "NominalConcurrencyShares",
        "Queues",
        "HandSize",
        "QueueLengthLimit",
        "Age",
    ),
    _priority_level,
)
