"""What is wrong with one field of an object, in Kubernetes' words.

Validation collects these and whoever asked is told them all at once: an API client as one sentence
in the message and one by one in `details.causes`, the reader of a configuration or of a pod's
events as one text. People and programs compare the texts, so the makers below are the only place
where their fixed parts are written.

Contract: `str(error)` is `<path>: <body>`, where the body starts with the kind of problem, shows
the bad value where upstream shows it, and ends with the detail. Values that are neither texts nor
plain numbers are shown as JSON in the way Go writes it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from podium.golang.json_values import ReadOnlyJson
from podium.golang.quoting import go_quote

REQUIRED: Final = "FieldValueRequired"
INVALID: Final = "FieldValueInvalid"
TYPE_INVALID: Final = "FieldValueTypeInvalid"
NOT_SUPPORTED: Final = "FieldValueNotSupported"
FORBIDDEN: Final = "FieldValueForbidden"
DUPLICATE: Final = "FieldValueDuplicate"
NOT_FOUND: Final = "FieldValueNotFound"
TOO_LONG: Final = "FieldValueTooLong"
TOO_SHORT: Final = "FieldValueTooShort"
TOO_MANY: Final = "FieldValueTooMany"
TOO_FEW: Final = "FieldValueTooFew"
INTERNAL: Final = "InternalError"

_HEADINGS: Final = {
    REQUIRED: "Required value",
    INVALID: "Invalid value",
    TYPE_INVALID: "Invalid value",
    NOT_SUPPORTED: "Unsupported value",
    FORBIDDEN: "Forbidden",
    DUPLICATE: "Duplicate value",
    NOT_FOUND: "Not found",
    TOO_LONG: "Too long",
    TOO_SHORT: "Too short",
    TOO_MANY: "Too many",
    TOO_FEW: "Too few",
    INTERNAL: "Internal error",
}
_SILENT: Final = frozenset({REQUIRED, FORBIDDEN, TOO_LONG, TOO_SHORT, INTERNAL})

IMMUTABLE: Final = "field is immutable"


class _Omitted(Enum):
    OMITTED = "omitted"


OMITTED: Final = _Omitted.OMITTED
"""Stands for a value that is not to be shown."""


ShownValue: TypeAlias = "ReadOnlyJson | _Omitted"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One problem with one field; `path` is written as users write paths."""

    cause: str
    path: str
    value: ShownValue
    detail: str

    @property
    def body(self) -> str:
        """The text without the path."""
        heading = _HEADINGS[self.cause]
        if self.cause not in _SILENT and self.value is not OMITTED:
            heading = f"{heading}: {format_value(self.value)}"
        return f"{heading}: {self.detail}" if self.detail else heading

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"

    def below(self, prefix: str) -> "FieldError":
        """The same problem of an object that is at `prefix` inside another one."""
        path = f"{prefix}.{self.path}" if self.path else prefix
        return FieldError(self.cause, path, self.value, self.detail)


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(REQUIRED, path, "", detail)


def invalid(path: str, value: ShownValue, detail: str) -> FieldError:
    return FieldError(INVALID, path, value, detail)


def type_invalid(path: str, value: ShownValue, detail: str) -> FieldError:
    return FieldError(TYPE_INVALID, path, value, detail)


def immutable(path: str, value: ShownValue) -> FieldError:
    """The field may not change once the object exists; `value` is the one that was refused."""
    return FieldError(INVALID, path, value, IMMUTABLE)


def not_supported(path: str, value: ShownValue, supported: Iterable[str]) -> FieldError:
    choices = ", ".join(go_quote(choice) for choice in supported)
    return FieldError(NOT_SUPPORTED, path, value, f"supported values: {choices}" if choices else "")


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(FORBIDDEN, path, "", detail)


def duplicate(path: str, value: ShownValue, detail: str = "") -> FieldError:
    return FieldError(DUPLICATE, path, value, detail)


def not_found(path: str, value: ShownValue, detail: str = "") -> FieldError:
    return FieldError(NOT_FOUND, path, value, detail)


def too_long(path: str, limit: int) -> FieldError:
    """Longer than `limit` bytes."""
    unit = "byte" if limit == 1 else "bytes"
    return FieldError(TOO_LONG, path, OMITTED, f"may not be more than {limit} {unit}")


def too_long_in_characters(path: str, limit: int) -> FieldError:
    unit = "character" if limit == 1 else "characters"
    return FieldError(TOO_LONG, path, OMITTED, f"may not be more than {limit} {unit}")


def too_many(path: str, found: int, limit: int) -> FieldError:
    unit = "item" if limit == 1 else "items"
    return FieldError(TOO_MANY, path, found, f"must have at most {limit} {unit}")


def child(path: str, name: str) -> str:
    """The path of a field below `path`, which is empty at the root."""
    return f"{path}.{name}" if path else name


def aggregate(problems: Iterable[FieldError | str]) -> str:
    """Several problems as one text: alone as it is, several once each in brackets."""
    texts = list(dict.fromkeys(map(str, problems)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def format_value(value: ReadOnlyJson) -> str:
    """A value as an error text shows it: texts quoted, the rest as Go's JSON."""
    if isinstance(value, str):
        return go_quote(value)
    return go_json(value)


def go_json(value: ReadOnlyJson) -> str:
    """Compact JSON with the characters escaped that Go's encoder escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_GO_JSON_ESCAPES)


_GO_JSON_ESCAPES: Final = str.maketrans(
    {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
)
