"""Why a patch is refused, as kube-apiserver answers.

Which code a mistake gets is upstream's history rather than a rule: a patch that does not apply is
422 and says nothing, one without a merge key is 500 and says everything.
"""

from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_value
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.rules.field_errors import invalid as invalid_field
from podium.kubernetes.status_errors import StatusError
from podium.kubernetes.status_errors import invalid as invalid_object

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH: Final = "application/strategic-merge-patch+json"

_GO_TYPES: Final = {
    bool: "bool", int: "int64", float: "float64", str: "string",
    list: "[]interface {}", dict: "map[string]interface {}",
}  # fmt: skip
_JSON_TYPES: Final = {
    bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


class PatchError(StatusError):
    """A patch that cannot be applied."""

    why = ""
    """Of a JSON patch that does not fit: the words of upstream's library, which clients that send
    a patch are not told."""


class FailedTestOperation(PatchError):
    """A `test` operation found another value than it wants."""


def bad_patch(message: str) -> PatchError:
    return PatchError(400, "BadRequest", message)


def patch_failed(message: str) -> PatchError:
    """Refused with the bare text and code 500."""
    return PatchError(500, "", message)


def does_not_apply(why: str = "", kind: type[PatchError] = PatchError) -> PatchError:
    """The patch is well formed but does not fit the document."""
    message = "the server rejected our request due to an error in our request"
    refused = kind(422, "Invalid", message, {})
    refused.why = why
    return refused


def too_many_operations(count: int, limit: int) -> PatchError:
    return PatchError(
        413,
        "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is"
        f" {limit}, got {count}",
    )


def wrong_type(value: JsonValue, go_type: str, *, field: str = "") -> PatchError:
    """The patch, or a part of it, has not the type that its format asks for."""
    into = f"Go struct field {field}" if field else "Go value"
    found = _JSON_TYPES[value.__class__]
    return bad_patch(
        f"error decoding patch: json: cannot unmarshal {found} into {into} of type {go_type}"
    )


def not_a(expected: type, found: JsonValue) -> PatchError:
    """A part of a strategic merge patch has another type than its meaning asks for."""
    actual = _GO_TYPES.get(found.__class__, "%!s(<nil>)")
    return patch_failed(f"expected a {_GO_TYPES[expected]}, but received a {actual}")


def unreadable(media_type: str, why: str) -> PatchError:
    """The patch is no JSON."""
    prefix = "" if media_type == STRATEGIC_MERGE_PATCH else "error decoding patch: "
    return bad_patch(prefix + why)


def not_decodable(media_type: str, patch: JsonValue, document: JsonObject, why: str) -> PatchError:
    """The patched document is no object of its kind."""
    shown = go_value(patch) if media_type == STRATEGIC_MERGE_PATCH else go_json(document)
    error = invalid_object("", "", "", [invalid_field("patch", shown, why)])
    return PatchError(error.code, error.reason, error.message, error.details)
