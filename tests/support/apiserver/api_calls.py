"""An API server without sockets, for tests that ask it something.

Requests go through the same service as those from the wire: authentication, paths, negotiation,
verbs, answers. Time stands still unless the test moves it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from podium.apiserver.access.tokens import Tokens
from podium.apiserver.http.log_stream import LogAnswer
from podium.apiserver.http.messages import HttpRequest, Response, headers_of, parameters_of, refusal
from podium.apiserver.http.resource_handlers import WatchAnswer
from podium.apiserver.requests.watching import Watch
from podium.apiserver.serving.assembly import build_service
from podium.apiserver.store.store import Store
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.table import EVERYTHING, RuntimeConfig
from podium.kubernetes.status_errors import StatusError
from podium.testing import FakeClock

TOKEN = "a-token-for-tests"
START = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""

Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass
class Answer:
    status: int
    text: bytes
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    content_type: str = "application/json"

    @property
    def body(self) -> Json:
        found: Json = json.loads(self.text)
        return found

    @property
    def message(self) -> str:
        return str(self.body["message"])

    def header(self, name: str) -> list[str]:
        return [value.decode() for key, value in self.headers if key.decode() == name]


class Api:
    """A server with nothing in it but what every cluster has."""

    def __init__(
        self,
        store: Store | None = None,
        gates: FeatureGates | None = None,
        runtime_config: RuntimeConfig = EVERYTHING,
        authority: bytes = b"",
    ) -> None:
        self.clock = FakeClock(START)
        self.store = store or Store()
        self.service = build_service(
            self.store,
            Tokens(TOKEN),
            clock=self.clock,
            randomness=Random(7),
            gates=gates or FeatureGates(),
            runtime_config=runtime_config,
            authority=authority,
        )
        self.registry = self.service.registry

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = TOKEN,
        accept: str = "application/json",
        content_type: str = "application/json",
        **headers: str | Sequence[str],
    ) -> Answer:
        answer = self._respond(method, path, body, token, accept, content_type, headers)
        assert isinstance(answer, Response), "use watch()"
        content = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
        return Answer(answer.status, content, answer.headers, answer.content_type.decode())

    def code(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        **headers: str | Sequence[str],
    ) -> int:
        """The code of an answer, which may be a stream."""
        answer = self._respond(method, path, body, TOKEN, "application/json", content_type, headers)
        return answer.status if isinstance(answer, Response) else 200

    def watch(self, path: str, *, accept: str = "application/json", **headers: str) -> "Watching":
        answer = self._respond("GET", path, None, TOKEN, accept, "", headers)
        assert isinstance(answer, WatchAnswer), "is no watch"
        return Watching(answer)

    def _respond(
        self,
        method: str,
        path: str,
        body: object,
        token: str | None,
        accept: str,
        content_type: str,
        headers: Mapping[str, str | Sequence[str]],
    ) -> Response | WatchAnswer | LogAnswer:
        path, _, query = path.partition("?")
        sent = [(b"accept", accept.encode()), (b"content-type", content_type.encode())]
        if token is not None and "authorization" not in headers:
            sent.append((b"authorization", f"Bearer {token}".encode()))
        for name, given in headers.items():
            values = (given,) if isinstance(given, str) else given
            sent += [(name.replace("_", "-").encode(), value.encode()) for value in values]
        content = body if isinstance(body, bytes) else b""
        if body is not None and not isinstance(body, bytes):
            content = json.dumps(body).encode()
        request = HttpRequest(method, path, {}, headers_of(sent), content)
        try:
            request.parameters = parameters_of(query.encode())
            return self.service.respond(self.service.admit(request))
        except StatusError as problem:
            return refusal(request, problem)

    # --- what many tests do -------------------------------------------------------------------

    def get(self, path: str, **options: Any) -> Json:
        return good(self.ask("GET", path, **options))

    def create(self, path: str, obj: Json) -> Json:
        return good(self.ask("POST", path, obj))

    def create_pod(self, name: str, **spec: Any) -> Json:
        return self.create(PODS, pod(name, **spec))

    def patch(self, path: str, change: object, content_type: str = MERGE) -> Json:
        return good(self.ask("PATCH", path, change, content_type=content_type))

    def delete(self, path: str, options: Json | None = None) -> Json:
        return good(self.ask("DELETE", path, options))


def good(answer: Answer) -> Json:
    assert answer.status < 300, answer.text.decode()
    return answer.body


def pod(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Json:
    metadata: Json = {"name": name}
    if labels:
        metadata["labels"] = labels
    containers = [{"name": "main", "image": "nginx:1.27"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def config_map(name: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


class Watching:
    """A watch whose events are read when the test asks for them."""

    def __init__(self, answer: WatchAnswer) -> None:
        self.answer = answer
        assert isinstance(answer.watch, Watch), "starts too far back"
        self.watch = answer.watch
        self._initial_told = False

    def events(self) -> list[Json]:
        """What has happened since the last call; at first what was there."""
        lines: list[bytes] = []
        presenter = self.answer.presenter
        if not self._initial_told:
            self._initial_told = True
            lines += [
                b'{"type":"ADDED","object":' + presenter.one(each) + b"}"
                for each in self.watch.initial
            ]
        while events := self.watch.poll_events():
            lines += [presenter.event(event) for event in events]
        return [json.loads(line) for line in lines]

    def seen(self) -> list[tuple[str, str]]:
        """The same as pairs of type and name."""
        return [(each["type"], each["object"]["metadata"]["name"]) for each in self.events()]
