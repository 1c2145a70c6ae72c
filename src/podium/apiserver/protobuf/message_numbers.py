"""Which number a field has in its protobuf message."""

from dataclasses import dataclass
from functools import cache

from podium.kubernetes.releases.release import release


@dataclass(frozen=True, slots=True)
class NumberedField:
    number: int
    name: str
    inline: str = ""
    """The message whose fields stand under this number, though JSON has none of that name."""


@cache
def fields_of_message(section: str, message: str) -> tuple[NumberedField, ...]:
    """The fields of a message in the order of their numbers; none if it is not known."""
    entry = release().types.get(section, {}).get(message)
    if entry is None:
        return ()
    fields = (
        NumberedField(field.number, f"~{field.name}", field.name)
        if field.inline
        else NumberedField(field.number, field.name)
        for field in entry.fields
        if field.number
    )
    return tuple(sorted(fields, key=lambda field: field.number))
