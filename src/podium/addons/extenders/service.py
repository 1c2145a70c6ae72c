"""An extender behind HTTP: a plain ASGI application, its verbs on the wire, and its metrics.

`POST /<verb>` for the verbs that the class has written, `/healthz`, `/readyz` and `/metrics` beside
them. A request that is not right is answered with what would be, and never reaches the extender.
An exception in the extender's code is an error of that one call: the scheduler reads which method
failed, the log has the text and the traceback, the service goes on. What an exception says may be
anything, so that only those of the class ExtenderError are told to others.

A service may answer at other names and have pages beside its verbs, all of it behind a prefix: what
schedulers are configured with that an older program served before.

From the bytes of a request to an extender's method, and back to bytes. Contract: requests are read
as leniently and strictly as Go reads them; answers are spelled exactly as upstream's types are,
with every member present. What an extender's method gets wrong about its own answer is said as an
error that names the class and the method.
"""

import inspect
import logging
from asyncio import to_thread
from collections.abc import Callable, Mapping
from operator import index
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Raw
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from podium.client.extenders import wire
from podium.client.extenders.extender import (
    VERBS,
    Extender,
    ExtenderError,
    Nodes,
    Unresolvable,
    Victims,
    verbs_of,
)
from podium.client.extenders.wire import DecodingProblem, body_decoder
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.net.serving import BodyTooLarge, ClientGone, Receive, Scope, Send, read_body

V = TypeVar("V")

_encode: Final = msgspec.json.Encoder().encode
_extender_args: Final = body_decoder(wire.ExtenderArgs)
_preemption_args: Final = body_decoder(wire.ExtenderPreemptionArgs)
_binding_args: Final = body_decoder(wire.ExtenderBindingArgs)
_pod: Final = body_decoder(Pod)
_node: Final = body_decoder(Node)


class InvalidAnswer(TypeError):
    """What a method gave back is not what its verb needs."""


async def answer(extender: Extender, verb: str, body: bytes | bytearray) -> bytes:
    """Raises DecodingProblem for a bad request, and whatever the method raises."""
    return await _ANSWERERS[verb](extender, body)


async def _filter(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _extender_args(body)
    nodes = _nodes(args)
    rejected = await _run(extender.filter, _pod(args.pod), nodes)
    rejected = _read_mapping(extender.filter, rejected, str, "reasons as text")
    _refuse_unknown_nodes(extender.filter, rejected, nodes.names)
    result = wire.ExtenderFilterResult(
        nodes=_passing_objects(args, nodes, rejected),
        node_names=_passing_names(args, rejected),
        failed_nodes={n: str(r) for n, r in rejected.items() if not isinstance(r, Unresolvable)},
        failed_and_unresolvable_nodes={
            n: str(r) for n, r in rejected.items() if isinstance(r, Unresolvable)
        },
    )
    return _encode(result)


async def _prioritize(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _extender_args(body)
    nodes = _nodes(args)
    scores = await _run(extender.prioritize, _pod(args.pod), nodes)
    scores = _read_mapping(extender.prioritize, scores, object, "scores")
    _refuse_unknown_nodes(extender.prioritize, scores, nodes.names)
    return _encode(
        [
            wire.HostPriority(name, _whole(extender.prioritize, name, scores.get(name, 0)))
            for name in nodes.names
        ]
    )


async def _preempt(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _preemption_args(body)
    offered = _victims(args)
    kept = await _run(extender.preempt, _pod(args.pod), offered)
    kept = _read_mapping(extender.preempt, kept, Victims, "Victims")
    return _encode(
        wire.ExtenderPreemptionResult(
            {
                name: wire.MetaVictims(
                    tuple(wire.MetaPod(uid) for uid in victims.uids), victims.violations
                )
                for name, victims in kept.items()
            }
        )
    )


async def _bind(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _binding_args(body)
    await _run(extender.bind, args.pod_name, args.pod_namespace, args.pod_uid, args.node)
    return _encode(wire.ExtenderBindingResult())


_ANSWERERS: Final = {
    "filter": _filter,
    "prioritize": _prioritize,
    "preempt": _preempt,
    "bind": _bind,
}


def error_answer(verb: str, text: str) -> bytes | None:
    """An answer that says what went wrong, for the verbs whose answers have a place for it."""
    match verb:
        case "filter":
            return _encode(wire.ExtenderFilterResult(error=text))
        case "bind":
            return _encode(wire.ExtenderBindingResult(text))
    return None


# --- in ---------------------------------------------------------------------------------------


def _nodes(args: wire.ExtenderArgs) -> Nodes:
    if args.nodes is None:
        return Nodes(args.node_names or ())
    return Nodes.of([_node(raw) for raw in args.nodes.items or ()])


def _victims(args: wire.ExtenderPreemptionArgs) -> dict[str, Victims]:
    if args.node_name_to_victims is None:
        return {
            name: Victims([pod.uid for pod in meta.pods or ()], meta.num_pdb_violations)
            for name, meta in (args.node_name_to_meta_victims or {}).items()
        }
    offered = {}
    for name, victims in args.node_name_to_victims.items():
        pods = [_pod(raw) for raw in victims.pods or ()]
        uids = [pod.metadata.uid for pod in pods]
        offered[name] = Victims(uids, victims.num_pdb_violations, pods)
    return offered


async def _run(method: Callable[..., Any], *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(method):
        return await method(*arguments)
    result = await to_thread(method, *arguments)
    return await result if inspect.isawaitable(result) else result


# --- out --------------------------------------------------------------------------------------


def _passing_objects(
    args: wire.ExtenderArgs, nodes: Nodes, rejected: Mapping[str, str]
) -> wire.NodeList | None:
    """The objects of the nodes that pass, as they came."""
    if args.nodes is None:
        return None
    items: list[Raw] = [
        raw
        for name, raw in zip(nodes.names, args.nodes.items or (), strict=True)
        if name not in rejected
    ]
    return wire.NodeList(items=tuple(items))


def _passing_names(args: wire.ExtenderArgs, rejected: Mapping[str, str]) -> tuple[str, ...] | None:
    if args.nodes is not None:
        return None
    return tuple(name for name in args.node_names or () if name not in rejected)


def _read_mapping(
    method: Callable[..., Any], given: object, values: type[V], wanted: str
) -> Mapping[str, V]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidAnswer(
            f"{method.__qualname__} gave back {type(given).__name__}; it should be a mapping from "
            f"names of nodes to {wanted}"
        )
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, values):
            raise InvalidAnswer(
                f"{method.__qualname__} gave back {value!r} for {name!r}; it should map names of "
                f"nodes to {wanted}"
            )
    return given


def _refuse_unknown_nodes(
    method: Callable[..., Any], given: Mapping[str, object], names: tuple[str, ...]
) -> None:
    unknown = given.keys() - set(names)
    if unknown:
        raise InvalidAnswer(f"{method.__qualname__} speaks of {min(unknown)!r}, which is not asked")


def _whole(method: Callable[..., Any], name: str, score: object) -> int:
    try:
        return index(score)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidAnswer(
            f"{method.__qualname__} gave {name!r} the score {score!r}; scores are whole numbers"
        ) from None


_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

CONTENT_TYPE = CONTENT_TYPE_LATEST


class ServiceMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "podium_extender_requests",
            "Requests by verb and by HTTP status code; failed calls that are answered with an"
            " Error have status 200.",
            ("verb", "code"),
            registry=self.registry,
        )
        self._errors = Counter(
            "podium_extender_errors",
            "Calls that the extender's code refused or that raised in it, by verb.",
            ("verb",),
            registry=self.registry,
        )
        self._durations = Histogram(
            "podium_extender_request_duration_seconds",
            "Time from the first byte of a request to the last of its answer, by verb.",
            ("verb",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def observe_answer(self, verb: str, code: int, seconds: float) -> None:
        self._requests.labels(verb, str(code)).inc()
        self._durations.labels(verb).observe(seconds)

    def count_error(self, verb: str) -> None:
        self._errors.labels(verb).inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)


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
            self.metrics.observe_answer(path, response.code, perf_counter() - started)

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
        self.metrics.count_error(name)
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
