"""Flow schemas and priority levels: precedence, shares, queues."""

from typing import Final

from podium.golang.json_values import JsonObject

_PRECEDENCE: Final = 1000
_SHARES: Final = 30
_QUEUING: Final = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def set_flow_schema_defaults(schema: JsonObject) -> None:
    spec = schema.setdefault("spec", {})
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _PRECEDENCE


def set_priority_level_defaults(level: JsonObject) -> None:
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
