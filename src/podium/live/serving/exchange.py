"""A request and its answer as values, apart from the protocol that carries them.

Pages are functions from one to the other. Bodies that are long come in pieces, between which others
have their turn.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from podium.net.serving import parse_query

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
_NO_SNIFFING: Final = (("X-Content-Type-Options", "nosniff"),)
# Who is taken for a person, and gets JSON that a person can read.
_BROWSERS: Final = ("curl", "Wget", "Mozilla/5.0")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """`headers` are by name in lower case, in the order of arrival; `certificates` are those that
    the client has shown and the connection has verified, its own first, as PEM."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    body: bytes = b""
    certificates: tuple[str, ...] = ()

    def header(self, name: str) -> str:
        """The first value of a header, or nothing."""
        return next(iter(self.headers.get(name, ())), "")

    @property
    def verb(self) -> str:
        return self.method.lower()

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Raises BadQuery."""
        return parse_query(self.query.encode("latin-1"))

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


@dataclass(frozen=True, slots=True)
class PageResponse:
    """Header names are as they go out; a body in pieces is read once."""

    status: int = 200
    body: bytes | Iterator[bytes] = b""
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


def text(words: str) -> PageResponse:
    return PageResponse(200, words.encode())


def plain_error(status: int, words: str) -> PageResponse:
    """A refusal in words, in the form of Go's `http.Error`."""
    return PageResponse(status, f"{words}\n".encode(), TEXT, _NO_SNIFFING)


def document(request: PageRequest, value: Any, status: int = 200) -> PageResponse:
    """JSON, spread over lines for people."""
    for_people = request.header("user-agent").startswith(_BROWSERS)
    return PageResponse(status, as_json(value, indent=2 if for_people else None), JSON)


def refusal(
    request: PageRequest,
    code: int,
    reason: str,
    message: str,
    details: dict[str, Any] | None = None,
) -> PageResponse:
    """A Status object, as API servers refuse things."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details is not None:
        status["details"] = details
    status["code"] = code
    return document(request, status, code)


def as_json(value: Any, *, indent: int | None = None) -> bytes:
    separators = None if indent else (",", ":")
    written = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return f"{written}\n".encode()
