"""The shape of objects inside the server: plain JSON values.

The server passes on what clients send, most of which it does not understand, so objects stay JSON
values after the door. The order of keys carries no meaning. An object that was handed to the store
is never changed in place again: whoever wants to change it makes a copy first.
"""

from typing import overload

import msgspec

from podium.api.json_values import DecodedValue, JsonObject, JsonValue, ReadOnlyJson

_ENCODER = msgspec.json.Encoder()
encode = _ENCODER.encode


@overload
def copied(value: JsonObject) -> JsonObject: ...
@overload
def copied(value: JsonValue) -> JsonValue: ...
def copied(value: JsonValue) -> JsonValue:
    """A copy that shares no object or list with the original."""
    if isinstance(value, dict):
        return {key: copied(item) if type(item) in _NESTED else item for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) if type(item) in _NESTED else item for item in value]
    return value


_NESTED = (dict, list)

__all__ = ["DecodedValue", "JsonObject", "JsonValue", "ReadOnlyJson", "copied", "encode"]
