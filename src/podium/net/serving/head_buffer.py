"""The head of a request: gathered within a bound, and whether it can be taken.

It is gathered here and parsed at once: a parser that is fed byte by byte copies what it has with
each one. All connections of a server share what may wait unparsed.

Whether the head of a request can be taken: version, Host, and where its body ends. The parser has
checked the characters; what is left are the rules of Go's net/http. In doubt about the end of a
body a request is refused: somebody between the client and this server may have another opinion on
it.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import unquote

from podium.net.serving.limits import Limits

FRAMING: Final = frozenset((b"host", b"content-length", b"transfer-encoding", b"expect"))
"""The headers that are looked at here; of all others the application makes what it likes."""
CHUNKED: Final = -1
_VERSIONS: Final = ("1.1", "1.0")
_NO_HOST_BYTES: Final = re.compile(rb"[^A-Za-z0-9!$%&'()*+,\-.:;=\[\]_~]")
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class HeadRefusal(NamedTuple):
    """An answer that ends the connection."""

    status: int
    why: str = ""

    def as_bytes(self) -> bytes:
        """upstream: in the form of Go's net/http."""
        said = f"{self.status} {HTTPStatus(self.status).phrase}"
        text = f"{said}: {self.why}" if self.why else said
        return (
            f"HTTP/1.1 {said}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n{text}"
        ).encode()


class Framed(NamedTuple):
    """How a request goes on behind its head."""

    body_bytes: int = 0
    """CHUNKED if it is not said beforehand."""
    expects_continue: bool = False


class RequestTarget(NamedTuple):
    path: str
    raw_path: bytes
    query: bytes
    authority: bytes = b""
    """The host of a target in absolute form, which counts more than the Host header."""


def find_frame(
    version: str, method: bytes, upgrades: bool, headers: list[tuple[bytes, bytes]]
) -> Framed | HeadRefusal:
    """`headers` are those of FRAMING."""
    if version not in _VERSIONS:
        return HeadRefusal(505, "unsupported protocol version")
    length = hosts = encodings = 0
    expects = False
    for name, value in headers:
        if name == b"host":
            hosts += 1
            if _NO_HOST_BYTES.search(value):
                return HeadRefusal(400, "malformed Host header")
        elif name == b"content-length":
            length = int(value)
        elif name == b"expect":
            if value.lower() != b"100-continue":
                return HeadRefusal(417)
            expects = version == "1.1"
        else:
            encodings += 1
            if value.lower() != b"chunked":
                return HeadRefusal(501, "unsupported transfer encoding")
    if hosts > 1:
        return HeadRefusal(400, "too many Host headers")
    if not hosts and version == "1.1":
        return HeadRefusal(400, "missing required Host header")
    if encodings and (encodings > 1 or length or version != "1.1"):
        return HeadRefusal(400, "too many transfer encodings")
    if encodings:
        length = CHUNKED
    if method == b"CONNECT" or (upgrades and length):
        # The parser would take what follows for something else than HTTP.
        return HeadRefusal(400, "no other protocol is spoken here")
    return Framed(length, expects and length != 0)


def split_target(url: bytes) -> RequestTarget | HeadRefusal:
    """upstream: `#` has no meaning in a request, so that nothing behind it is lost."""
    authority = b""
    if url[:1] != b"/" and url != b"*":
        scheme, found, rest = url.partition(b"://")
        if not found or scheme.lower() not in (b"http", b"https"):
            return HeadRefusal(400, "malformed request target")
        authority, slash, path = rest.partition(b"/")
        if b"?" in authority or b"@" in authority or _NO_HOST_BYTES.search(authority):
            return HeadRefusal(400, "malformed request target")
        url = slash + path or b"/"
    raw_path, _, query = url.partition(b"?")
    try:
        path_text = raw_path.decode("ascii")
    except UnicodeDecodeError:
        return HeadRefusal(400, "malformed request target")
    if "%" in path_text:
        if _BAD_ESCAPE.search(raw_path):
            return HeadRefusal(400, "invalid URL escape")
        path_text = unquote(path_text)
    return RequestTarget(path_text, raw_path, query, authority)


@dataclass(slots=True)
class Unfinished:
    """The bytes that all connections of a server hold unparsed: incomplete heads, and what waits
    behind a request that is being answered."""

    max_bytes: int
    held_bytes: int = 0

    @property
    def is_too_much(self) -> bool:
        return self.held_bytes > self.max_bytes


class HeadBuffer:
    def __init__(self, limits: Limits, unfinished: Unfinished) -> None:
        self._limits = limits
        self._unfinished = unfinished
        self._head = bytearray()
        self._counted_bytes = 0
        self.rest_at = 0
        """Where in the data that was taken last the head has ended."""

    def take(self, data: bytes, at: int) -> bytes | HeadRefusal | None:
        """The head, if this is the end of it; None if there must be more to come."""
        gathered = len(self._head)
        if gathered:
            self._head += data[at:]
            end = _blank_line(self._head, max(0, gathered - 2))
            size = end or len(self._head)
        else:
            end = _blank_line(data, at)
            size = (end or len(data)) - at
        if size > self._limits.max_head_bytes:
            return HeadRefusal(431)
        if not end:
            if not gathered:
                self._head += data[at:]
            return self._count()
        if gathered:
            head = bytes(self._head[:end])
            self.rest_at = at + end - gathered
            self.clear()
        else:
            head = data[at:end]
            self.rest_at = end
        return HeadRefusal(431) if head.count(b"\n") > self._limits.max_headers + 2 else head

    def clear(self) -> None:
        self._unfinished.held_bytes -= self._counted_bytes
        self._counted_bytes = 0
        self._head = bytearray()

    def _count(self) -> HeadRefusal | None:
        self._unfinished.held_bytes += len(self._head) - self._counted_bytes
        self._counted_bytes = len(self._head)
        return (
            HeadRefusal(503, "too many unfinished requests")
            if self._unfinished.is_too_much
            else None
        )


def _blank_line(data: bytes | bytearray, start: int) -> int:
    """Where the first blank line ends, 0 without one; the parser refuses bare line feeds."""
    end = data.find(b"\n\r\n", start)
    bare = data.find(b"\n\n", start, end if end >= 0 else len(data))
    if bare >= 0:
        return bare + 2
    return end + 3 if end >= 0 else 0
