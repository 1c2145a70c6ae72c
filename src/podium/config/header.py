"""The apiVersion and kind of a document, with upstream's words for the ways to get them wrong."""

from collections.abc import Mapping
from typing import Final

from podium.config.decode import DecodeError, json_kind

SCHEME: Final = 'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"'

_PREFIX: Final = "couldn't get version/kind; json parse error: json: cannot unmarshal"
_STRUCT: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def header_of(raw: object) -> tuple[str, str]:
    """The apiVersion and kind of a document; empty where absent. Raises DecodeError."""
    if not isinstance(raw, Mapping):
        raise DecodeError(f"{_PREFIX} {json_kind(raw)} into Go value of type {_STRUCT}")
    found = []
    for field in ("apiVersion", "kind"):
        value = raw.get(field)
        if value is not None and not isinstance(value, str):
            raise DecodeError(
                f"{_PREFIX} {json_kind(value)} into Go struct field .{field} of type string"
            )
        found.append(value or "")
    return found[0], found[1]
