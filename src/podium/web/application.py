"""The page as an ASGI application: files, documents, the stream of changes, and steps of Play.

It can be mounted below any path. Every answer carries a policy that lets the browser run and load
nothing but the page's own files, and lets no other site show it in a frame.
"""

import asyncio
import gzip
import inspect
import logging
from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from podium.golang.document_structs import Document
from podium.net.files.versioned_documents import encode_document
from podium.net.serving import (
    BadQuery,
    BodyTooLarge,
    ClientGone,
    Receive,
    Scope,
    Send,
    parse_query,
    read_body,
)
from podium.web.access import READ_ONLY, Refused
from podium.web.event_stream import EventStreams
from podium.web.page_documents import Documents, NotThere, TooBusy
from podium.web.static_files import INDEX, StaticFile, static_files

_LOG: Final = logging.getLogger("podium.web")
POLICY: Final = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_DATA: Final = "/data/"
_STATIC: Final = "/static/"
_EVENTS: Final = "/data/events"
_STEPS: Final = "/play/steps"
_MIN_COMPRESSED: Final = 1024
_COMPRESSED_ELSEWHERE: Final = 64 * 1024
"""A longer answer is compressed in a thread: others have their turn meanwhile."""

Headers = tuple[tuple[str, str], ...]


class AccessControl(Protocol):
    def admit_to_files(self, headers: Mapping[str, str], tokens: list[str]) -> None:
        """To the page's own files, which hold nothing of the cluster. Raises Refused."""

    def admit(self, headers: Mapping[str, str]) -> None:
        """To documents. Raises Refused."""

    def admit_write(self, headers: Mapping[str, str]) -> None:
        """Raises Refused."""


class TakesSteps(Protocol):
    """What Play is for the page."""

    max_bytes: int

    async def take_step(self, body: bytes | bytearray) -> Document:
        """Raises Refused."""


class PageApplication:
    def __init__(
        self,
        documents: Documents,
        streams: EventStreams,
        access: AccessControl,
        prefix: str = "",
        play: TakesSteps | None = None,
    ) -> None:
        """`prefix` is the path below which it is mounted; without `play` it can only be read."""
        self._play = play
        self._documents = documents
        self._streams = streams
        self._access = access
        self._prefix = prefix

    async def follow(self) -> None:
        """To run for as long as the page is served; streams that are open then are ended."""
        try:
            await self._documents.follow()
        finally:
            self._streams.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = _Exchange(scope, send)
        try:
            await self._answer(scope, receive, exchange)
        except ClientGone:
            return
        except Refused as refusal:
            await exchange.refuse(refusal.status, refusal.reason)
        except BadQuery as problem:
            await exchange.refuse(400, str(problem))
        except NotThere as missing:
            await exchange.refuse(404, str(missing))
        except TooBusy as problem:
            await exchange.refuse(503, str(problem))
        except BodyTooLarge:
            await exchange.refuse(413, "this is longer than what the page takes")
        except Exception:
            if exchange.has_begun:
                raise
            _LOG.exception("the page could not answer %s", scope["path"])
            await exchange.refuse(500, "this request broke the page; the scheduler goes on")

    async def _answer(self, scope: Scope, receive: Receive, exchange: "_Exchange") -> None:
        parameters = parse_query(scope["query_string"])
        path = scope["path"].removeprefix(self._prefix)
        if path in ("", "/") or path.startswith(_STATIC):
            self._access.admit_to_files(exchange.headers, parameters.get("token", []))
        else:
            self._access.admit(exchange.headers)
        if scope["method"] == "POST" and path == _STEPS and self._play is not None:
            self._access.admit_write(exchange.headers)
            body = await read_body(scope["headers"], receive, self._play.max_bytes)
            await exchange.answer_document(encode_document(await self._play.take_step(body)))
            return
        if scope["method"] not in ("GET", "HEAD"):
            raise Refused(405, READ_ONLY)
        if path == _EVENTS:
            mark = exchange.headers.get("last-event-id") or parameters.get("mark", [""])[0]
            headers = exchange.encoded_headers()
            await self._streams.serve(mark, receive, exchange.send, headers)
        elif path.startswith(_DATA):
            found = self._documents.document(path.removeprefix(_DATA), parameters)
            document = await found if inspect.isawaitable(found) else found
            await exchange.answer_document(_encode(document))
        elif path == "/":
            await exchange.answer_file(static_files()[INDEX])
        elif path.startswith(_STATIC) and path.removeprefix(_STATIC) in static_files():
            await exchange.answer_file(static_files()[path.removeprefix(_STATIC)])
        elif path == "" and self._prefix:
            await exchange.redirect(f"{self._prefix}/")
        else:
            raise NotThere("there is no such page")


def _encode(document: Document | msgspec.Raw) -> bytes:
    return encode_document(document) if isinstance(document, Document) else bytes(document)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in reversed(scope["headers"])
        }
        self.has_begun = False
        self._is_head = scope["method"] == "HEAD"
        self._send = send

    async def send(self, message: dict[str, object]) -> None:
        self.has_begun = True
        await self._send(message)

    async def answer_file(self, file: StaticFile) -> None:
        tag = f'"{file.digest}"'
        kept: Headers = (("ETag", tag), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"))
        if self.headers.get("if-none-match") == tag:
            await self._answer(304, b"", file.content_type, kept)
        elif self._takes_gzip:
            packed = (*kept, ("Content-Encoding", "gzip"))
            await self._answer(200, file.compressed, file.content_type, packed)
        else:
            await self._answer(200, file.content, file.content_type, kept)

    async def answer_document(self, body: bytes) -> None:
        headers: Headers = (("Cache-Control", "no-store"),)
        if self._takes_gzip and len(body) >= _MIN_COMPRESSED:
            headers = (*headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
            if len(body) >= _COMPRESSED_ELSEWHERE:
                body = await asyncio.to_thread(gzip.compress, body, 1)
            else:
                body = gzip.compress(body, 1)
        await self._answer(200, body, "application/json", headers)

    async def redirect(self, target: str) -> None:
        await self._answer(308, b"", "text/plain", (("Location", target),))

    async def refuse(self, status: int, reason: str) -> None:
        kept: Headers = (("Cache-Control", "no-store"),)
        if status == 405:
            kept = (*kept, ("Allow", "GET, HEAD"))
        body = f"{reason}\n".encode(errors="replace")
        await self._answer(status, body, "text/plain; charset=utf-8", kept)

    def encoded_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        headers = (*_HEADERS, ("Cache-Control", "no-store"))
        return tuple((name.lower().encode(), value.encode()) for name, value in headers)

    @property
    def _takes_gzip(self) -> bool:
        return "gzip" in self.headers.get("accept-encoding", "")

    async def _answer(self, status: int, body: bytes, kind: str, headers: Headers) -> None:
        sent = (("Content-Type", kind), ("Content-Length", str(len(body))))
        pairs = (*sent, *_HEADERS, *headers)
        lines = [(name.lower().encode(), value.encode()) for name, value in pairs]
        await self.send({"type": "http.response.start", "status": status, "headers": lines})
        await self.send({"type": "http.response.body", "body": b"" if self._is_head else body})
