"""What a webhook's HTTP status says, in the words of Kubernetes' client for Go."""

from collections.abc import Mapping
from typing import Final

from podium.apiserver.bodies.reading import Unreadable, read_json
from podium.golang.quoting import quoted

_MAX_TEXT_BYTES: Final = 2048
_TOLD: Final[Mapping[int, str]] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be"
    " processing the request",
}
_IN_OWN_WORDS: Final = frozenset({403, 406, 415})


def told_by_status(status: int, body: bytes, content_type: str) -> str:
    """Why an answer with this status, which is not one of success, is none."""
    message = _message_of(body)
    if message:
        return message
    is_text = not content_type or content_type.startswith("text/")
    said = body[:_MAX_TEXT_BYTES].decode(errors="replace").strip() if is_text else "unknown"
    if status in _IN_OWN_WORDS:
        return said
    if status in _TOLD:
        return _TOLD[status]
    if status >= 500:
        return f"an error on the server ({quoted(said)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"


def _message_of(body: bytes) -> str:
    """Of an answer that is a Status."""
    try:
        found = read_json(body).value
    except Unreadable:
        return ""
    if not isinstance(found, dict) or found.get("kind") != "Status":
        return ""
    message = found.get("message")
    return message if isinstance(message, str) and found.get("status") != "Success" else ""
