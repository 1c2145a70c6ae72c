"""One HTTP exchange with an extender, as Go's client makes it, addresses and bodies included.

This is the only module that knows the HTTP library: the client above it sees `Exchange`. aiohttp is
used because it takes a TLS server name apart from the address, client certificates and a stream
that can be cut off; redirects, gzip and proxies are done here, by the rules of Go's `net/http`.
Source: `NewHTTPExtender` and `send` in `pkg/scheduler/extender.go`.

Contract: an exchange ends by its deadline, body included, and keeps no more than `limit` bytes of
an answer. What went wrong before an answer began is an `ExchangeFailed`; what went wrong after that
is in the reply, with as much of the body as came.

An answer's body as it comes in: unpacked, and never larger than it may be.

Addresses of extenders: put together, checked and shown as Go does it. Nothing checks `urlPrefix`
when a configuration is read (upstream does not), so a bad one is found when the extender is called,
and has to be told well then: the address without its scheme is the most frequent mistake of all.

Source: `send` in `pkg/scheduler/extender.go`, and Go's `net/url`.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import aiohttp
from yarl import URL

from podium.client.extenders.tls import TLSClient
from podium.client.http_transport import OpenSockets
from podium.golang.errors import PodiumError
from podium.golang.quoting import go_quote
from podium.golang.urls import url_problem
from podium.net.exchange_problems import cause_of
from podium.net.proxies import Proxies

_GZIP: Final = 16 + zlib.MAX_WBITS
_MIB: Final = 1 << 20


class Body:
    """Collects pieces; a gzip body is bounded by what it unpacks to."""

    def __init__(self, limit: int, encoding: str) -> None:
        self.received = bytearray()
        self._limit = limit
        self._unpacker = zlib.decompressobj(_GZIP) if encoding.strip().lower() == "gzip" else None
        self._begun = False

    def take(self, piece: bytes) -> str:
        """Add what came; the answer says why no more should be taken, "" if it should."""
        self._begun = self._begun or bool(piece)
        if self._unpacker is None:
            self.received += piece[: self._room() + 1]
        else:
            try:
                self._unpack(piece, self._unpacker)
            except zlib.error:
                return "gzip: invalid header" if not self.received else "gzip: invalid checksum"
        if self._room() < 0:
            del self.received[self._limit :]
            return f"the answer is larger than {self._limit // _MIB} MiB"
        return ""

    def end(self) -> str:
        """Why the body is not whole although no more comes, "" if it is."""
        cut_short = self._unpacker is not None and self._begun and not self._unpacker.eof
        return "unexpected EOF" if cut_short else ""

    def _room(self) -> int:
        return self._limit - len(self.received)

    def _unpack(self, piece: bytes, unpacker: "zlib._Decompress") -> None:
        while piece and self._room() >= 0:
            if unpacker.eof:
                # A gzip file may be several, one after the other.
                unpacker = self._unpacker = zlib.decompressobj(_GZIP)
            self.received += unpacker.decompress(piece, self._room() + 1)
            piece = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail


_IDLE_S: Final = 90
_DIAL_S: Final = 30
_HANDSHAKE_S: Final = 10
_MAX_REQUESTS: Final = 10
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KEEPING_THE_METHOD: Final = frozenset({307, 308})
_PIECE: Final = 1 << 18
_ANSWER_HEADERS: Final = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
_DEADLINE: Final = "context deadline exceeded"
_WHILE_WAITING: Final = f"{_DEADLINE} (Client.Timeout exceeded while awaiting headers)"
_WHILE_READING: Final = f"{_DEADLINE} (Client.Timeout or context cancellation while reading body)"


class ExtenderReply(NamedTuple):
    """`broken` says why the body may not be whole, "" if it is."""

    status: int
    body: bytes | bytearray
    broken: str = ""


class ExchangeFailed(PodiumError):
    """No answer came from `url`; the text is the cause in Go's words."""

    def __init__(self, url: str, cause: str) -> None:
        super().__init__(cause)
        self.url = url


class Exchange(Protocol):
    async def post(
        self, url: str, body: bytes, *, timeout_s: float | None, limit: int
    ) -> ExtenderReply:
        """Raises ExchangeFailed, and AddressProblem for an address that cannot be called."""

    async def close(self) -> None: ...


@dataclass(slots=True)
class _Progress:
    """How far an exchange has come, for when it ends early."""

    url: str
    reading: Body | None = None


@dataclass(slots=True)
class ExtenderExchange:
    """Exchanges with one extender; connections are kept for the next one."""

    tls: TLSClient
    proxies: Proxies
    _open_session: aiohttp.ClientSession | None = field(default=None, init=False)
    _sockets: OpenSockets = field(default_factory=OpenSockets, init=False)

    async def post(
        self, url: str, body: bytes, *, timeout_s: float | None, limit: int
    ) -> ExtenderReply:
        progress = _Progress(url)
        # Connections that the other side has closed meanwhile are noticed before one is chosen.
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._follow(progress, body, limit)
        except TimeoutError:
            if progress.reading is None:
                raise ExchangeFailed(progress.url, _WHILE_WAITING) from None
            return ExtenderReply(200, progress.reading.received, _WHILE_READING)

    async def close(self) -> None:
        if self._open_session is not None:
            await self._open_session.close()
            self._open_session = None
            await self._sockets.gone()

    async def _follow(self, progress: _Progress, body: bytes, limit: int) -> ExtenderReply:
        content: bytes | None = body
        for _ in range(_MAX_REQUESTS):
            reply, location = await self._once(progress, content, limit)
            if not location:
                return reply
            if reply.status not in _KEEPING_THE_METHOD:
                content = None
            previous, progress.url = progress.url, urljoin(progress.url, location)
        raise ExchangeFailed(previous, f"stopped after {_MAX_REQUESTS} redirects")

    async def _once(
        self, progress: _Progress, content: bytes | None, limit: int
    ) -> tuple[ExtenderReply, str]:
        """One request and its answer, or where it leads to."""
        target = check_url(progress.url)
        while True:
            trace = SimpleNamespace(reused=False)
            try:
                async with self._request(target, content, trace) as response:
                    return await self._answer(response, progress, limit)
            except aiohttp.ServerDisconnectedError as problem:
                # upstream: a kept connection that turns out to be closed is nobody's fault.
                if not trace.reused:
                    raise ExchangeFailed(progress.url, cause_of(problem)) from None
            except (aiohttp.ClientError, OSError, ValueError) as problem:
                raise ExchangeFailed(progress.url, cause_of(problem)) from None

    def _request(self, target: SplitResult, content: bytes | None, trace: SimpleNamespace) -> Any:
        secure = target.scheme == "https"
        headers = dict(_ANSWER_HEADERS)
        data: bytes | AsyncIterator[bytes] | None = content
        if content is not None:
            headers["Content-Type"] = "application/json"
            headers["Content-Length"] = str(len(content))
            if len(content) > _PIECE:
                data = _in_pieces(content)
        return self._session().request(
            "GET" if content is None else "POST",
            URL(wire_form(target), encoded=True),
            data=data,
            headers=headers,
            allow_redirects=False,
            proxy=self.proxies.on_the_way_to(target) or None,
            ssl=self.tls.context_or_default() if secure else True,
            server_hostname=self.tls.server_name or None,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_HANDSHAKE_S if secure else _DIAL_S
            ),
            trace_request_ctx=trace,
        )

    async def _answer(
        self, response: aiohttp.ClientResponse, progress: _Progress, limit: int
    ) -> tuple[ExtenderReply, str]:
        location = response.headers.get("Location", "")
        if response.status in _REDIRECTS and location:
            return ExtenderReply(response.status, b""), location
        if response.status != 200:
            return ExtenderReply(response.status, b""), ""
        body = progress.reading = Body(limit, response.headers.get("Content-Encoding", ""))
        broken = ""
        try:
            async for piece in response.content.iter_any():
                broken = body.take(piece)
                if broken:
                    break
            else:
                broken = body.end()
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
            broken = "unexpected EOF"
        except aiohttp.ClientOSError as problem:
            broken = cause_of(problem)
        return ExtenderReply(200, body.received, broken), ""

    def _session(self) -> aiohttp.ClientSession:
        if self._open_session is None:
            traces = aiohttp.TraceConfig()
            traces.on_connection_reuseconn.append(_note_reuse)
            self._open_session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0,
                    keepalive_timeout=_IDLE_S,
                    use_dns_cache=False,
                    socket_factory=self._sockets.made,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("Accept",),
                auto_decompress=False,
                trace_configs=[traces],
            )
        return self._open_session


async def _note_reuse(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx.reused = True


async def _in_pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


_PATH_CHARACTERS: Final = "/%:@!$&'()*+,;=~-._"
_QUERY_CHARACTERS: Final = _PATH_CHARACTERS + '?[]"\\^`{|}<>'


class AddressProblem(PodiumError, ValueError):
    """An address that cannot be called; the text is Go's, with the address in it."""


def verb_url(prefix: str, verb: str) -> str:
    """The address of one verb.

    >>> verb_url("http://h/e1//", "filter")
    'http://h/e1/filter'
    """
    return f"{prefix.rstrip('/')}/{verb}"


def check_url(url: str) -> SplitResult:
    """The parts of an address that can be called over HTTP."""
    problem = url_problem(url)
    if problem:
        raise AddressProblem(f"parse {go_quote(url)}: {problem}")
    try:
        parts = urlsplit(url)
    except ValueError as invalid:
        raise AddressProblem(f"parse {go_quote(url)}: {invalid}") from None
    if parts.scheme not in ("http", "https"):
        raise AddressProblem(
            f'Post {go_quote(show_url(url))}: unsupported protocol scheme "{parts.scheme}"'
        )
    if not parts.hostname:
        raise AddressProblem(f"Post {go_quote(show_url(url))}: http: no Host in request URL")
    return parts


def wire_form(parts: SplitResult) -> str:
    """The address as it is sent: what was escaped stays so, what must be is."""
    path = quote(parts.path, safe=_PATH_CHARACTERS)
    query = quote(parts.query, safe=_QUERY_CHARACTERS)
    return parts._replace(path=path, query=query, fragment="").geturl()


def show_url(url: str) -> str:
    """The address for messages: a password in it is nobody's business."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not separator or not at or ":" not in user:
        return url
    return f"{scheme}://{user.partition(':')[0]}:***@{host}{slash}{path}"
