"""A request and its answer, as far as the server reads the one and writes the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs

from podium.apiserver.json_values import encode
from podium.apiserver.requests.query import Parameters

Headers = Mapping[bytes, Sequence[bytes]]
"""By name in lower case; values in the order of arrival."""

MAX_BODY_BYTES: Final = 3 << 20
_NO_PARAMETERS: Final[Parameters] = {}
_MAX_PARAMETERS: Final = 100


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


def request_from(scope: dict[str, Any]) -> Request:
    """The request of an ASGI scope, still without its body."""
    query = scope["query_string"]
    return Request(
        scope["method"],
        scope["raw_path"].decode("latin-1"),
        parameters_of(query.decode("latin-1")) if query else _NO_PARAMETERS,
        headers_of(scope["headers"]),
    )


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers by name; what is repeated is kept."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        headers.setdefault(name, []).append(value)
    return headers


def parameters_of(query: str) -> Parameters:
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        return _NO_PARAMETERS


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
    """Warnings as headers of their own, cut off where there are too many."""
    headers: list[tuple[bytes, bytes]] = []
    size = 0
    for text in warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        line = f'299 - "{quoted}"'.encode()
        size += len(line)
        if size > _MAX_WARNING_BYTES:
            break
        headers.append((b"warning", line))
    return headers


_MAX_WARNING_BYTES: Final = 4096
