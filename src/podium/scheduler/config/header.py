"""The apiVersion and kind of a document, with upstream's words for the ways to get them wrong.

upstream: the two are looked up by Go's own JSON decoder, to which `Kind` and `KIND` are `kind` as
well and the last one counts, while the rest of a document is read with respect to case. A file
that says `Kind:` is therefore recognised, and refused for an unknown field.
"""

from collections.abc import Mapping
from typing import Final

from podium.golang.quoting import quoted
from podium.scheduler.config.decode import DecodeError, json_kind
from podium.scheduler.config.json_text import members

SCHEME: Final = 'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"'
INTERNAL: Final = "__internal"
"""The version of upstream's own types, which have no place in files and can be named there."""

_PREFIX: Final = "couldn't get version/kind; json parse error: json: cannot unmarshal"
_STRUCT: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
HEADER_FIELDS: Final = ("apiVersion", "kind")
_FIELDS: Final = {field.lower(): field for field in HEADER_FIELDS}
# Letters outside ASCII that are equal to one inside when case does not count.
_FOLDS: Final = str.maketrans({"\u017f": "s", "\u212a": "k"})


def header_of(raw: object) -> tuple[str, str]:
    """The apiVersion and kind of a document; empty where absent. Raises DecodeError.

    The apiVersion is in its canonical form: without the slash when it has no group, and empty when
    it has a group but no version.
    """
    if not isinstance(raw, Mapping):
        raise DecodeError(f"{_PREFIX} {json_kind(raw)} into Go value of type {_STRUCT}")
    found = dict.fromkeys(HEADER_FIELDS, "")
    for name, value in members(raw):
        field = _FIELDS.get(name.translate(_FOLDS).lower())
        if field is None or value is None:
            continue
        if not isinstance(value, str):
            raise DecodeError(
                f"{_PREFIX} {json_kind(value)} into Go struct field .{field} of type string"
            )
        found[field] = value
    return _canonical(found["apiVersion"]), found["kind"]


def not_registered(kind: str, api_version: str) -> str:
    """What upstream says of a kind that it does not know in this version."""
    group, _, version = api_version.rpartition("/")
    if version == INTERNAL:
        place = f"the internal version of group {quoted(group)}"
    else:
        place = f"version {quoted(api_version)}"
    return f"no kind {quoted(kind)} is registered for {place} {SCHEME}"


def _canonical(api_version: str) -> str:
    group, slash, version = api_version.partition("/")
    if "/" in version:
        raise DecodeError(f"unexpected GroupVersion string: {api_version}")
    if not slash:
        return api_version
    return f"{group}/{version}" if group and version else version
