"""What a ControllerRevision holds, byte for byte, and the name that follows from it.

A revision is a strategic merge patch that puts the whole template back. Clients compare and hash
its bytes, so these are the ones that Go's encoding/json writes for a map: keys in order, `<`, `>`
and `&` escaped, integers by way of float64 (`pkg/controller/statefulset/stateful_set_utils.go`,
`pkg/controller/history/controller_history.go`).
"""

import json
from decimal import Decimal
from typing import Any, Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.workloads import PodTemplate

_FNV_OFFSET: Final = 2166136261
_FNV_PRIME: Final = 16777619
_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Letters and digits that spell no words."""
_MAX_PREFIX: Final = 223
_ESCAPES: Final = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)


def revision_data(template: PodTemplate) -> JsonObject:
    """The patch that restores a template, its keys in order at every depth."""
    kept = {"$patch": "replace", "metadata": template.metadata, "spec": template.spec}
    return {"spec": {"template": _in_order(kept)}}


def go_map_bytes(value: JsonObject) -> bytes:
    """JSON of plain values as Go writes maps that it has read from JSON."""
    text = json.dumps(_in_order(value), ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "surrogatepass")


def revision_hash(data: JsonObject, collisions: int = 0) -> str:
    """The hash of a stateful set's revision: FNV-1 of its data and the count of collisions.

    >>> revision_hash({"spec": {"template": {"$patch": "replace"}}})
    '589f85db5b'
    """
    return safe_text(_fnv1_32(go_map_bytes(data) + str(collisions).encode()))


def revision_name(owner: str, mark: str) -> str:
    return f"{owner[:_MAX_PREFIX]}-{mark}"


def safe_text(number: int) -> str:
    """A number in letters and digits, as hashes stand in names."""
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(number))


def _fnv1_32(data: bytes) -> int:
    found = _FNV_OFFSET
    for byte in data:
        found = (found * _FNV_PRIME & 0xFFFFFFFF) ^ byte
    return found


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        # Go compares keys as bytes of UTF-8, which is the order of code points.
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_in_order(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        # upstream: what a float64 cannot hold ends in zeros. Templates have no other numbers.
        return int(Decimal(repr(float(value))))
    return value
