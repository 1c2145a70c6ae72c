"""Answers that say no, as exceptions by what they mean.

An API server explains itself in a Status object; its `reason` decides which error is raised, and
where there is none, the HTTP status does. Callers catch what they can handle: `NotFound` after a
deletion, `Conflict` after somebody else's write, `Gone` in a watch that is too old.
"""

from typing import Any, Final

import msgspec

from podium.client.transport import Reply, RequestFailed

_SHOWN: Final = 200


class _Cause(msgspec.Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = ""
    causes: list[_Cause] | None = None
    retry_after_seconds: int = 0


class ApiStatus(msgspec.Struct, rename="camel"):
    """The Status object of an answer or of an ERROR event."""

    kind: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None


class ApiError(RequestFailed):
    """The server understood and said no; or it did not understand."""

    def __init__(self, status: ApiStatus, retry_after_s: float | None = None) -> None:
        super().__init__(status.message or status.reason or f"HTTP status {status.code}")
        self.status = status
        self.code = status.code
        self.reason = status.reason
        self.retry_after_s = retry_after_s

    def has_cause(self, reason: str) -> bool:
        details = self.status.details
        return any(cause.reason == reason for cause in (details and details.causes) or ())


class BadRequest(ApiError):
    """400: what was sent makes no sense to the server."""


class Unauthorized(ApiError):
    """401: the server does not know who asks."""


class Forbidden(ApiError):
    """403: who asks may not do this, or admission has refused it."""


class NotFound(ApiError):
    """404: the object, its namespace or its kind does not exist."""


class Conflict(ApiError):
    """409: somebody else has written in the meantime, or the state of the object forbids it."""


class AlreadyExists(Conflict):
    """409: there is an object of that name."""


class Gone(ApiError):
    """410: the resource version is older than what the server remembers."""


class Invalid(ApiError):
    """422: the object breaks rules."""


class TooManyRequests(ApiError):
    """429: later, perhaps; also an eviction that a disruption budget does not allow."""


class ServerTrouble(ApiError):
    """5xx: the server could not do it, though it may be able to later."""


class ResourceVersionTooLarge(ServerTrouble):
    """504 with a cause: the server has not seen the resource version yet."""


_BY_REASON: Final = {
    "BadRequest": BadRequest,
    "Unauthorized": Unauthorized,
    "Forbidden": Forbidden,
    "NotFound": NotFound,
    "AlreadyExists": AlreadyExists,
    "Conflict": Conflict,
    "Gone": Gone,
    "Expired": Gone,
    "Invalid": Invalid,
    "TooManyRequests": TooManyRequests,
    "InternalError": ServerTrouble,
    "ServiceUnavailable": ServerTrouble,
    "ServerTimeout": ServerTrouble,
    "Timeout": ServerTrouble,
}
_BY_CODE: Final = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def error_of(reply: Reply) -> ApiError:
    """The error that an answer with a status of 400 or more stands for."""
    status = _status(reply)
    return error_of_status(status, _retry_after(reply, status))


def error_of_status(status: ApiStatus, retry_after_s: float | None = None) -> ApiError:
    """The error that a Status object stands for, as in an ERROR event of a watch."""
    if status.code >= 500 or status.reason in ("Timeout", "ServerTimeout"):
        trouble = ServerTrouble(status, retry_after_s)
        if trouble.has_cause("ResourceVersionTooLarge"):
            return ResourceVersionTooLarge(status, retry_after_s)
        return trouble
    kind = _BY_REASON.get(status.reason) or _BY_CODE.get(status.code, ApiError)
    return kind(status, retry_after_s)


def decode_status(body: Any) -> ApiStatus | None:
    """The Status object in some JSON, None if it is none."""
    try:
        found = msgspec.json.decode(body, type=ApiStatus)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.kind == "Status" else None


def _status(reply: Reply) -> ApiStatus:
    found = decode_status(reply.body)
    if found is not None:
        return msgspec.structs.replace(found, code=found.code or reply.status)
    # A proxy on the way, or a server that is no API server.
    said = reply.body[:_SHOWN].decode(errors="replace").strip()
    text = f"HTTP status {reply.status}" + (f": {said}" if said else "")
    return ApiStatus(code=reply.status, message=text)


def _retry_after(reply: Reply, status: ApiStatus) -> float | None:
    written = reply.headers.get("retry-after", "")
    if written.isdigit():
        return float(written)
    if status.details is not None and status.details.retry_after_seconds > 0:
        return float(status.details.retry_after_seconds)
    return None
