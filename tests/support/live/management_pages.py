"""The endpoints of a scheduler without sockets: a surface to look at, and a way to ask for pages.

`FakeApi` stands for the API server that is asked about users; it answers as it is told to and
remembers what it was asked.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from podium.client import KubeClient, Unreachable
from podium.client.transport import Reply, Request, Stream
from podium.live.exposition import Exposition
from podium.live.serving.application import ManagementApplication
from podium.live.serving.authentication import Authenticator, DelegatingAuthorizer
from podium.live.serving.pages import Pages
from podium.live.serving.surface import NOBODY, Reviewers, ServingSettings, Surface
from podium.live.serving.tls import Trust
from podium.live.serving.zpages import Standing
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.testing import FakeClock

STARTED_AT = 1_700_000_000.0
OPEN = "--authorization-always-allow-paths=/*"
"""Everybody may see everything."""


def surface(**fields: Any) -> Surface:
    defaults: dict[str, Any] = {
        "metrics": Exposition(process=False),
        "configuration": lambda: {"kind": "KubeSchedulerConfiguration"},
        "flags": {"v": "0", "secure-port": "10259"},
        "standing": Standing(STARTED_AT, "CPython 3", "1.36.4", "1.36"),
        "pods": tuple,
        "leading": lambda: True,
        "wall": lambda: STARTED_AT + 3725,
        "randomness": Random(1),
    }
    return Surface(**{**defaults, **fields})


def settings(*flags: str) -> ServingSettings:
    return ServingSettings.of(options_of(parse_flags(flags)))


@dataclass
class FakeApi:
    """`answers` are by path: a JSON object, or a function of the object that was sent."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        sent = json.loads(request.body) if request.body else None
        self.asked.append((request.path, sent))
        answer = self.answers.get(request.path)
        if answer is None:
            raise Unreachable("nobody listens there")
        found = answer(sent) if callable(answer) else answer
        return Reply(200, {}, json.dumps(found).encode())

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    async def close(self) -> None: ...

    @property
    def client(self) -> KubeClient:
        return KubeClient(self)


def reviewed_by(api: FakeApi) -> Reviewers:
    return Reviewers(api.client, api.client)


@dataclass
class Management:
    """An application under test, with the clock of its caches."""

    application: ManagementApplication
    clock: FakeClock
    trust: Trust

    async def get(self, path: str, **headers: Any) -> "Page":
        return await self.ask("GET", path, **headers)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        certificates: tuple[str, ...] = (),
        **headers: Any,
    ) -> "Page":
        where, _, query = path.partition("?")
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": method,
            "path": where,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named],
            "extensions": {"tls": {"client_cert_chain": list(certificates)}},
        }
        page = Page()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        await self.application(scope, receive, page.take)
        return page


@dataclass
class Page:
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: int = 0

    async def take(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
            self.pieces += 1

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def management(
    *flags: str, reviewers: Reviewers = NOBODY, of: Callable[..., Surface] = surface, **fields: Any
) -> Management:
    """Endpoints with these flags; keywords are fields of the surface."""
    set_ = settings(*flags)
    clock = FakeClock()
    trust = Trust(set_.authentication)
    seen = of(**fields)
    application = ManagementApplication(
        Pages(seen),
        Authenticator(set_.authentication, trust, reviewers, clock),
        DelegatingAuthorizer(set_.authorization, reviewers, clock),
        seen.ui,
    )
    return Management(application, clock, trust)
