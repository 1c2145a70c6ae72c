"""The errors that clients see: `Status` objects with kube-apiserver's codes, reasons and texts.

Everything in the server that refuses a request raises `StatusError`; the HTTP layer turns it into a
body. The makers below are the only place where these texts are written. A `details` of None leaves
the field out of the body, an empty one shows as `{}`: upstream's handlers differ in that, and
clients compare.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError, aggregate

_MAX_PROBLEMS: Final = 1000
_MAX_PROBLEM_CHARACTERS: Final = 256 * 1024
"""An object of 3 MiB can have a million mistakes, and each may show it as a whole; nobody reads
further than this."""


class StatusError(Exception):
    """A request that failed, with everything that its answer shows."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: JsonObject | None = None,
        *,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after_s = retry_after_s
        self.metadata: JsonObject = {}
        self.warnings: Iterable[str] = ()
        """What the client would have been warned of."""

    def as_object(self) -> JsonObject:
        """The body of the answer."""
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(resource: ApiResource, name: str) -> JsonObject:
    details: JsonObject = {}
    if name:
        details["name"] = name
    if resource.group:
        details["group"] = resource.group
    details["kind"] = resource.plural
    return details


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def not_handled(kind: str, version: str, as_kind: str, why: str) -> StatusError:
    """An object that cannot be decoded as one of the kind that it should be."""
    return bad_request(
        f"{kind} in version {go_quote(version)} cannot be handled as a {as_kind}: {why}"
    )


def not_strict(kind: str, version: str, problems: Iterable[str]) -> StatusError:
    """An object with fields that do not exist, or are there twice, for those who mind."""
    return not_handled(kind, version, kind, f"strict decoding error: {', '.join(problems)}")


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: ApiResource, name: str, why: str) -> StatusError:
    """Refused by authorisation or admission: `pods "a" is forbidden: why`."""
    subject = f'{resource.group_resource} "{name}"' if name else resource.group_resource
    return StatusError(403, "Forbidden", f"{subject} is forbidden: {why}", _details(resource, name))


def forbidden_path(why: str) -> StatusError:
    return StatusError(403, "Forbidden", f"forbidden: {why}", {})


def not_found(resource: ApiResource, name: str) -> StatusError:
    return StatusError(
        404,
        "NotFound",
        f'{resource.group_resource} "{name}" not found',
        _details(resource, name),
    )


def unknown_resource() -> StatusError:
    """The path names nothing that is served."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> StatusError:
    return StatusError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        {},
    )


def not_acceptable(message: str, *, details: JsonObject | None = None) -> StatusError:
    return StatusError(406, "NotAcceptable", message, details)


def already_exists(resource: ApiResource, name: str) -> StatusError:
    return StatusError(
        409,
        "AlreadyExists",
        f'{resource.group_resource} "{name}" already exists',
        _details(resource, name),
    )


def conflict(resource: ApiResource, name: str, why: str) -> StatusError:
    return StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {resource.group_resource} "{name}": {why}',
        _details(resource, name),
    )


def modified_meanwhile(resource: ApiResource, name: str) -> StatusError:
    """The sender's resourceVersion is not the stored one."""
    return conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and"
        " try again",
    )


def apply_conflict(message: str, causes: list[JsonObject]) -> StatusError:
    """Server-side apply would take fields that other managers own."""
    return StatusError(409, "Conflict", message, {"causes": causes})


def expired(message: str) -> StatusError:
    """A resourceVersion or continue token that history no longer covers."""
    return StatusError(410, "Expired", message)


def too_large() -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")


def unsupported_media_type(message: str, *, details: JsonObject | None = None) -> StatusError:
    return StatusError(415, "UnsupportedMediaType", message, details)


def invalid(group: str, kind: str, name: str, problems: Sequence[FieldError]) -> StatusError:
    """Validation failed; several problems are shown in brackets, as upstream's aggregates are."""
    texts: list[str] = []  # upstream: aggregates leave out repeated texts, causes keep them
    causes: list[JsonObject] = []
    size = 0
    for problem in problems[:_MAX_PROBLEMS]:
        body = problem.body
        texts.append(f"{problem.path}: {body}")
        causes.append({"reason": problem.cause, "message": body, "field": problem.path})
        size += len(problem.path) + len(body)
        if size > _MAX_PROBLEM_CHARACTERS:
            break
    if len(problems) > len(causes):
        texts.append("and more")
    subject = f"{kind}.{group}" if group else kind
    details: JsonObject = {"name": name, "group": group, "kind": kind, "causes": causes}
    return StatusError(
        422,
        "Invalid",
        f'{subject} "{name}" is invalid: {aggregate(texts)}',
        {key: value for key, value in details.items() if value},
    )


def too_many_requests(
    message: str, *, details: JsonObject | None = None, retry_after_s: int | None = None
) -> StatusError:
    return StatusError(429, "TooManyRequests", message, details, retry_after_s=retry_after_s)


def internal(message: str) -> StatusError:
    """An error that upstream lets through without a reason: code 500 and its bare text."""
    return StatusError(500, "", message)


def internal_error(message: str) -> StatusError:
    """The same with a reason, as upstream wraps what it did not expect."""
    told = f"Internal error occurred: {message}"
    return StatusError(500, "InternalError", told, {"causes": [{"message": message}]})


def request_timed_out() -> StatusError:
    told = "Timeout: request did not complete within requested timeout"
    return StatusError(504, "Timeout", told, {})


def timed_out(message: str, *, details: JsonObject, retry_after_s: int) -> StatusError:
    return StatusError(504, "Timeout", message, details, retry_after_s=retry_after_s)
