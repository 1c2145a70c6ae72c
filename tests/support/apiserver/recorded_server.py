"""An API server over TLS in a thread of the test, which remembers what it was asked."""

import asyncio
import base64
import json
import ssl
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from support.waiting import PATIENCE_S

from podium.apiserver.http.app import Application
from podium.apiserver.serving.kubeconfig import kubeconfig
from podium.apiserver.serving.server import ApiServer, ServerOptions
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.serving import WebServer


class RecordedServer(ApiServer):
    """Remembers (method, path) of every request; without `streams_lists` it refuses watches that
    are to begin with what is there, as servers without that feature do."""

    asked: list[tuple[str, str]]
    streams_lists = True

    def _web_server(self, application: Application) -> WebServer:
        self.asked = []
        server, asked = self, self.asked

        class Recorded:
            stop = application.stop

            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                if scope["type"] == "http":
                    asked.append((scope["method"], scope["path"]))
                    if not server.streams_lists:
                        wanted = scope["query_string"]
                        refused = wanted.replace(b"=NotOlderThan", b"=Unknown")
                        scope = {**scope, "query_string": refused}
                await application(scope, receive, send)

        return super()._web_server(Recorded())  # type: ignore[arg-type]

    def create(self, path: str, body: Any) -> Any:
        """An object, made over the wire."""
        return self._write("POST", path, body)

    def update(self, path: str, body: Any) -> Any:
        return self._write("PUT", path, body)

    def delete(self, path: str, options: Any = None) -> Any:
        return self._write("DELETE", path, options)

    def _write(self, method: str, path: str, body: Any) -> Any:
        assert self.certificates is not None
        trusted = ssl.create_default_context(cadata=self.certificates.authority.decode())
        request = urllib.request.Request(
            f"{self.url}{path}",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, context=trusted) as answer:
            return json.load(answer)

    def kubeconfig(self, path: Path, *, user: str = "", **changes: Any) -> str:
        """A kubeconfig for the server, for a `user` who is impersonated; `changes` are made to the
        entry of the cluster."""
        assert self.certificates is not None
        written = kubeconfig(self.url, self.token, self.certificates.authority, {})
        written["clusters"][0]["cluster"].update(changes)
        if user:
            written["users"][0]["user"]["as"] = user
        path.write_text(yaml.safe_dump(written))
        return str(path)


@contextmanager
def recorded_server(gates: FeatureGates | None = None) -> Iterator[RecordedServer]:
    server = RecordedServer(ServerOptions(gates=gates or FeatureGates()))
    loops: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        serving = asyncio.ensure_future(server.serve())
        await server.application()
        ready.set()
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield server
    finally:
        loops[0].call_soon_threadsafe(server.stop)
        thread.join(PATIENCE_S)


def other_authority() -> str:
    """A certificate authority that has signed nothing."""
    import trustme

    return base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
