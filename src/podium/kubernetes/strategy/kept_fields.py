"""What a write cannot change: fields of the stored object that take the place of written ones."""

from typing import Final

from podium.golang.json_values import JsonObject

_METADATA: Final = (
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "deletionTimestamp",
    "generation",
)


def keep_field(new: JsonObject, old: JsonObject, name: str) -> None:
    """A field is as it was, or absent as it was."""
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def keep_metadata(new: JsonObject, old: JsonObject) -> None:
    """The parts of the metadata that a write to another part of the object does not touch."""
    for name in _METADATA:
        keep_field(new["metadata"], old["metadata"], name)


def keep_generation(new: JsonObject, old: JsonObject) -> None:
    keep_field(new["metadata"], old["metadata"], "generation")
