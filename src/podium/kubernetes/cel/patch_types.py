"""What the expressions of mutating policies make: objects, and operations of JSON patches.

An object's type is named after its place: `Object{spec: Object.spec{...}}`. Nothing is known of
its fields; whether they fit is seen when the object is merged.
"""

from typing import Final

from podium.kubernetes.cel import types
from podium.kubernetes.cel.structs import StructType
from podium.kubernetes.cel.types import Type

_OBJECT: Final = "Object"
_NO_TYPE: Final = Type("")
"""upstream: a field that operations do not have is one whose type has no name."""
_JSON_PATCH: Final = StructType(
    "JSONPatch",
    {**dict.fromkeys(("op", "from", "path"), types.STRING), "value": types.DYN},
    _NO_TYPE,
)
OBJECT: Final = (types.object_type(_OBJECT),)
JSON_PATCHES: Final = (types.list_of(_JSON_PATCH.type),)


def find_patch_type(name: str) -> StructType | None:
    if name == _JSON_PATCH.name:
        return _JSON_PATCH
    if name == _OBJECT or name.startswith(f"{_OBJECT}."):
        return StructType(name, other_fields=types.DYN)
    return None
