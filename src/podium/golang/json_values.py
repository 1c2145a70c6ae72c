"""JSON after decoding: its types, a copy, and the text of a value.

`JsonValue` is any value and says so: whoever takes one looks at what it is before using it.
`ReadOnlyJson` is the same for those that only read: a list of texts is one too.
`JsonObject` is an object of the API, or a part of one, which is read and written by path
(`pod["spec"]["containers"][0]`). Its values are left open: narrowing every step of a path would
bury the rule that the path serves, and what was accepted has the types of its schema already.
`DecodedValue` is a value of the type that the schema beside it says; only the schema knows which.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, overload

import msgspec

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
ReadOnlyJson: TypeAlias = (
    "bool | int | float | str | Sequence[ReadOnlyJson] | Mapping[str, ReadOnlyJson] | None"
)
JsonObject: TypeAlias = dict[str, Any]  # type: ignore[explicit-any]  # see above
DecodedValue: TypeAlias = Any  # type: ignore[explicit-any]  # see above

_ENCODER = msgspec.json.Encoder()
encode = _ENCODER.encode


@overload
def copy_json(value: JsonObject) -> JsonObject: ...
@overload
def copy_json(value: JsonValue) -> JsonValue: ...
def copy_json(value: JsonValue) -> JsonValue:
    """A copy that shares no object or list with the original."""
    if isinstance(value, dict):
        return {
            key: copy_json(item) if type(item) in _NESTED else item for key, item in value.items()
        }
    if isinstance(value, list):
        return [copy_json(item) if type(item) in _NESTED else item for item in value]
    return value


_NESTED = (dict, list)
