"""A request and its answer, as far as the server reads the one and writes the other."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from podium.apiserver.requests.query import Parameters
from podium.golang.json_values import encode
from podium.kubernetes import status_errors
from podium.net.serving import BadQuery, parse_query

Headers = Mapping[bytes, Sequence[bytes]]
"""By name in lower case; values in the order of arrival."""

MAX_BODY_BYTES: Final = 3 << 20


@dataclass(slots=True)
class Request:
    """One request: what its line and its headers say, and its body."""

    method: str
    path: str
    parameters: Parameters
    headers: Headers
    body: bytes = b""

    def header(self, name: bytes) -> str:
        """A header's value, or an empty text; names are in lower case. Of several the first
        counts, as in Go."""
        values = self.headers.get(name)
        return values[0].decode("latin-1") if values else ""

    def header_values(self, name: bytes) -> tuple[str, ...]:
        """All values of a header that may be repeated, in the order of arrival."""
        return tuple(value.decode("latin-1") for value in self.headers.get(name, ()))


def request_from(scope: Mapping[str, Any]) -> Request:
    """The request of an ASGI scope, still without its parameters and its body."""
    return Request(
        scope["method"],
        scope["raw_path"].decode("latin-1"),
        {},
        headers_of(scope["headers"]),
    )


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers by name; what is repeated is kept."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        headers.setdefault(name, []).append(value)
    return headers


def parameters_of(query: bytes) -> Parameters:
    """Raises StatusError: half a query could do more than the whole one."""
    try:
        return parse_query(query)
    except BadQuery as problem:
        raise status_errors.bad_request(str(problem)) from None


@dataclass(slots=True)
class Response:
    """An answer; a body in chunks is sent as they come."""

    status: int
    body: bytes | Iterator[bytes]
    content_type: bytes = b"application/json"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


def json_response(value: object, status: int = 200) -> Response:
    return Response(status, encode(value) + b"\n")


def text_response(text: str, status: int = 200) -> Response:
    return Response(status, text.encode(), b"text/plain; charset=utf-8")


def warning_headers(warnings: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Warnings as headers of their own, each once; all are cut where they are too long together.

    upstream: a text with control characters is not told, since no header can carry it
    (`NewWarningHeader`, and `recorder` in apiserver's `endpoints/filters/warning.go`).
    """
    texts = [text for text in dict.fromkeys(warnings) if text and _fits_header(text)]
    is_cut = False
    written = 0
    headers: list[tuple[bytes, bytes]] = []
    for place, text in enumerate(texts):
        if is_cut and written >= _MAX_WARNINGS:
            break
        if not is_cut and written + len(text) > _MAX_WARNINGS:
            is_cut = True
            headers = [_warning(before[:_MAX_CUT_WARNING]) for before in texts[:place]]
            written = sum(min(len(before), _MAX_CUT_WARNING) for before in texts[:place])
        told = text[:_MAX_CUT_WARNING] if is_cut else text
        written += len(told)
        headers.append(_warning(told))
    return headers


_MAX_WARNINGS: Final = 4096
_MAX_CUT_WARNING: Final = 256
_NOT_IN_HEADERS: Final = frozenset(("Cc", "Cs"))


def _fits_header(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return not any(unicodedata.category(character) in _NOT_IN_HEADERS for character in text)


def _warning(text: str) -> tuple[bytes, bytes]:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return b"warning", f'299 - "{quoted}"'.encode()
