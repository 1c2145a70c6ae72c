"""The kinds of the group `flowcontrol.apiserver.k8s.io`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.tables.printer import NONE, age_of, columns_of, name_of, spec_of, status_of
from podium.kubernetes.validation import flow_control

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
_STRATEGY: Final = WriteStrategy(empty_status={}, counted=("spec",), keeps_metadata=True)
_PRECEDENCE: Final = 1000
_SHARES: Final = 30
_QUEUING: Final = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def _set_flow_schema_defaults(schema: JsonObject) -> None:
    spec = schema.setdefault("spec", {})
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _PRECEDENCE


def _set_priority_level_defaults(level: JsonObject) -> None:
    spec = level.setdefault("spec", {})
    exempt, limited = spec.get("exempt"), spec.get("limited")
    if exempt is not None:
        _set_if_null(exempt, "nominalConcurrencyShares", 0)
        _set_if_null(exempt, "lendablePercent", 0)
    if limited is not None:
        _set_if_null(limited, "nominalConcurrencyShares", _SHARES)
        _set_if_null(limited, "lendablePercent", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for field, value in _QUEUING.items():
                queuing[field] = queuing.get(field) or value


def _set_if_null(holder: JsonObject, field: str, value: int) -> None:
    if holder.get(field) is None:
        holder[field] = value


def _flow_schema(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    method = spec.get("distinguisherMethod")
    return [
        name_of(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        spec.get("matchingPrecedence") or 0,
        NONE if method is None else method.get("type", ""),
        age_of(obj, now),
        _dangling_status(obj),
    ]


def _dangling_status(obj: JsonObject) -> str:
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


_FLOW_SCHEMA: Final = Printer(
    columns_of(
        "Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"
    ),
    _flow_schema,
)
_PRIORITY_LEVEL: Final = Printer(
    columns_of(
        "Name", "Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit", "Age"
    ),
    _priority_level,
)


KINDS: Final = (
    Kind(
        _GROUP,
        "FlowSchema",
        "flowschemas",
        description="Which requests belong to which priority level; kept and not acted on.",
        namespaced=False,
        has_status=True,
        defaults=_set_flow_schema_defaults,
        validation=Validation(
            flow_control.schema_create_errors,
            flow_control.schema_update_errors,
            flow_control.status_errors,
        ),
        strategy=_STRATEGY,
        printer=_FLOW_SCHEMA,
    ),
    Kind(
        _GROUP,
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        description="How many requests run at once; kept and not acted on.",
        namespaced=False,
        has_status=True,
        defaults=_set_priority_level_defaults,
        validation=Validation(
            flow_control.level_create_errors,
            flow_control.level_update_errors,
            flow_control.status_errors,
        ),
        strategy=_STRATEGY,
        printer=_PRIORITY_LEVEL,
    ),
)
