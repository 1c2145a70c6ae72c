"""An extender behind HTTP: a plain ASGI application.

`POST /<verb>` for the verbs that the class has written, `/healthz`, `/readyz` and `/metrics` beside
them. A request that is not right is answered with what would be, and never reaches the extender.
An exception in the extender's code is an error of that one call: the scheduler reads which method
failed, the log has the text and the traceback, the service goes on. What an exception says may be
anything, so that only those of the class ExtenderError are told to others.

A service may answer at other names and have pages beside its verbs, all of it behind a prefix: what
schedulers are configured with that an older program served before.
"""

import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final, NamedTuple

from podium.addons.extenders.extender import VERBS, Extender, ExtenderError, verbs_of
from podium.addons.extenders.metrics import CONTENT_TYPE, ServiceMetrics
from podium.addons.extenders.verbs import InvalidAnswer, answer, error_answer
from podium.client.extenders.lenient import DecodingProblem
from podium.net.serving import BodyTooLarge, ClientGone, Receive, Scope, Send, read_body

_log = logging.getLogger(__name__)

DEFAULT_BODY_LIMIT: Final = 16 << 20
_LOOKS: Final = ("healthz", "readyz", "metrics")
_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"


class _Response(NamedTuple):
    code: int
    body: bytes
    content_type: str = _TEXT
    headers: tuple[tuple[bytes, bytes], ...] = ()


class _Refused(Exception):
    def __init__(self, code: int, text: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(text)
        self.response = _Response(code, f"{text}\n".encode(), headers=headers)


class Route(NamedTuple):
    """A verb of an extender, at whatever name it is served."""

    extender: Extender
    verb: str


class PageText(NamedTuple):
    """What a page says; `content_type` for something else than text."""

    code: int
    body: bytes
    content_type: str = _TEXT


Page = Callable[[str], PageText | None]
"""What is at a path below a page's own, "" for the page itself; None if there is nothing."""


class ExtenderService:
    def __init__(
        self,
        extender: Extender,
        *,
        body_limit: int = DEFAULT_BODY_LIMIT,
        prefixes: tuple[str, ...] = (),
        routes: Mapping[str, Route] | None = None,
        pages: Mapping[str, Page] | None = None,
        tells_decoding: bool = False,
        metrics: ServiceMetrics | None = None,
    ) -> None:
        """`routes` are served instead of the verbs that the class has written, below each of the
        prefixes and without one. With `tells_decoding` a body that makes no sense is told in the
        answer where that has a place for errors, as the programs of gpu-admission's family do."""
        self.extender = extender
        self.routes = routes or {verb: Route(extender, verb) for verb in verbs_of(extender)}
        self.metrics = metrics or ServiceMetrics()
        self._name = type(extender).__name__
        self._body_limit = body_limit
        self._prefixes = tuple(f"{prefix.strip('/')}/" for prefix in prefixes)
        self._pages = pages or {}
        self._tells_decoding = tells_decoding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is served here, not {scope['type']}")
        path = self._without_prefix(scope["path"].lstrip("/"))
        started = perf_counter()
        try:
            if path in self.routes:
                self._demand(scope, "POST")
                response = await self._call(path, await self._body(scope, receive))
            else:
                response = self._look(path, scope)
        except _Refused as refusal:
            response = refusal.response
        except ClientGone:
            return
        await _reply(send, response)
        if path in self.routes or path in VERBS:
            self.metrics.answered(path, response.code, perf_counter() - started)

    def _without_prefix(self, path: str) -> str:
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return path.removeprefix(prefix)
        return path

    async def _call(self, name: str, body: bytes | bytearray) -> _Response:
        extender, verb = self.routes[name]
        try:
            return _Response(200, await answer(extender, verb, body), _JSON)
        except DecodingProblem as problem:
            text = str(problem)
            if not self._tells_decoding or error_answer(verb, text) is None:
                raise _Refused(400, f"the request is not what {name} takes: {text}") from None
        except ExtenderError as refusal:
            _log.info("%s refuses %s: %s", self._name, name, refusal)
            text = str(refusal) or f"{self._name} refuses to {name}"
        except InvalidAnswer as problem:
            _log.error("%s", problem)
            text = str(problem)
        except Exception:
            _log.exception("%s failed at %s", self._name, name)
            text = f"{self._name}.{name} failed: the extender's log says why"
        self.metrics.failed(name)
        answered = error_answer(verb, text)
        # The answers of prioritize and preempt have no place for errors, so the status says it.
        if answered is None:
            return _Response(500, f"{text}\n".encode())
        return _Response(200, answered, _JSON)

    def _look(self, path: str, scope: Scope) -> _Response:
        name, _, below = path.partition("/")
        if name in self._pages:
            self._demand(scope, "GET", "HEAD")
            page = self._pages[name](below)
            if page is not None:
                return _Response(page.code, page.body, page.content_type)
        if path not in _LOOKS:
            raise _Refused(404, self._directions(path))
        self._demand(scope, "GET", "HEAD")
        if path == "metrics":
            return _Response(200, self.metrics.text(), CONTENT_TYPE)
        if path == "readyz" and not self.extender.ready():
            return _Response(503, b"not ready\n")
        return _Response(200, b"ok\n")

    def _directions(self, path: str) -> str:
        served = ", ".join(f"POST /{name}" for name in self.routes) or "no verbs"
        if path in VERBS:
            return (
                f"{self._name} does not implement {path}; it serves {served}. Remove {path}Verb "
                "from the scheduler's configuration, or write the method"
            )
        looks = ", ".join(f"GET /{look}" for look in (*self._pages, *_LOOKS))
        return f"nothing at /{path}; {self._name} serves {served}, {looks}"

    def _demand(self, scope: Scope, *methods: str) -> None:
        if scope["method"] not in methods:
            allowed = ", ".join(methods)
            text = f"{scope['path']} takes {allowed}, not {scope['method']}"
            raise _Refused(405, text, (b"allow", allowed.encode()))

    async def _body(self, scope: Scope, receive: Receive) -> bytes | bytearray:
        try:
            return await read_body(scope["headers"], receive, self._body_limit)
        except BodyTooLarge:
            raise self._too_large() from None

    def _too_large(self) -> _Refused:
        text = f"the request is larger than {self._body_limit >> 20} MiB"
        return _Refused(413, text, (b"connection", b"close"))


async def _reply(send: Send, response: _Response) -> None:
    headers = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", str(len(response.body)).encode()),
        *response.headers,
    ]
    await send({"type": "http.response.start", "status": response.code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})
