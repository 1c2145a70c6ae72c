"""Requests that are passed on to the service of an APIService, over real sockets."""

import asyncio
import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import trustme
from support.apiserver.api_calls import TOKEN
from support.apiserver.asgi_client import Exchange
from support.apiserver.hooked_api import HookedApi
from support.waiting import PATIENCE_S, poll

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RESOURCES = {
    "kind": "APIResourceList",
    "groupVersion": "remote.dev/v1",
    "resources": [
        {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing",
         "verbs": ["get", "list"], "shortNames": ["th"]},
        {"name": "things/status", "singularName": "", "namespaced": True, "kind": "Thing",
         "verbs": ["get"]},
    ],
}  # fmt: skip


class OtherServer:
    """An API server beside, which notes what it is asked."""

    def __init__(self, port: int, ca_bundle: str) -> None:
        self.port = port
        self.ca_bundle = ca_bundle
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.discovery_status = 200
        self.may_end = threading.Event()
        """Until then a watch goes on."""


@contextmanager
def other_server(name: str = "s.default.svc") -> Iterator[OtherServer]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            headers = {key.lower(): value for key, value in self.headers.items()}
            found.asked.append((self.command, self.path, headers, body))
            if "watch=1" in self.path:
                self._watch()
                return
            is_discovery = self.path == "/apis/remote.dev/v1"
            status = found.discovery_status if is_discovery else 201
            content = json.dumps(RESOURCES if is_discovery else {"kind": "Thing"}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("x-own", "yes")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _watch(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.wfile.write(b'f\r\n{"type":"ADDED"\r\n2\r\n}\n\r\n')
            found.may_end.wait(PATIENCE_S)
            self.close_connection = True

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
    found = OtherServer(server.server_address[1], bundle)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def registered(api: HookedApi, server: OtherServer, **spec: Any) -> None:
    ports = [{"name": "https", "port": 443, "targetPort": server.port}]
    service = {"type": "ExternalName", "externalName": "localhost", "ports": ports}
    api.create("/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": service})
    wanted = {
        "group": "remote.dev",
        "version": "v1",
        "groupPriorityMinimum": 500,
        "versionPriority": 10,
        "service": {"namespace": "default", "name": "s"},
        "caBundle": server.ca_bundle,
        **spec,
    }
    api.create(SERVICES, {"metadata": {"name": "v1.remote.dev"}, "spec": wanted})


async def condition(api: HookedApi, reason: str) -> dict[str, Any]:
    """Wait until the APIService has a condition for this reason."""

    async def look() -> dict[str, Any]:
        answer = await api.asked("GET", f"{SERVICES}/v1.remote.dev", authorization=AUTH)
        found: dict[str, Any] = (answer.body.get("status", {}).get("conditions") or [{}])[0]
        return found if found.get("reason") == reason else {}

    return await poll(look)


AUTH = f"Bearer {TOKEN}"


def test_requests_are_passed_on_with_who_asks() -> None:
    api = HookedApi()
    with other_server() as server:
        registered(api, server)

        async def go() -> Any:
            found = await condition(api, "Passed")
            assert (found["status"], found["message"]) == ("True", "all checks passed")
            path = "/apis/remote.dev/v1/namespaces/n/things?dryRun=All&x=a%2Fb"
            return await api.asked("POST", path, {"a": 1}, authorization=AUTH)

        answer = api.run(go())

    assert (answer.status, answer.body, answer.header("x-own")) == (201, {"kind": "Thing"}, ["yes"])
    method, path, headers, body = server.asked[-1]
    assert (method, path) == ("POST", "/apis/remote.dev/v1/namespaces/n/things?dryRun=All&x=a%2Fb")
    assert json.loads(body) == {"a": 1}
    assert headers["x-remote-user"] == "admin"
    assert headers["host"] == "s.default.svc"
    assert "authorization" not in headers


def test_a_watch_is_passed_on_as_it_comes_and_ends_with_its_client() -> None:
    api = HookedApi()
    with other_server() as server:
        registered(api, server)

        async def go() -> Any:
            await condition(api, "Passed")
            path, headers = "/apis/remote.dev/v1/things?watch=1", {"authorization": AUTH}
            watching = Exchange(api.application, "GET", path, [b""], headers)
            running = asyncio.ensure_future(watching.run())
            lines = await watching.until_lines(1)
            watching.hangs_up.set()
            await running
            return lines

        try:
            assert api.run(go()) == [{"type": "ADDED"}]
        finally:
            server.may_end.set()


def test_what_a_service_serves_is_told_with_everything_else() -> None:
    api = HookedApi()
    with other_server() as server:
        registered(api, server)

        async def go() -> Any:
            await condition(api, "Passed")
            headers = {"authorization": AUTH, "accept": AGGREGATED}
            return (await api.asked("GET", "/apis", **headers)).body["items"][-1]

        group = api.run(go())

    assert group["metadata"] == {"name": "remote.dev"}
    (version,) = group["versions"]
    assert version["freshness"] == "Current"
    (things,) = version["resources"]
    assert (things["resource"], things["scope"]) == ("things", "Namespaced")
    assert things["responseKind"] == {"group": "remote.dev", "version": "v1", "kind": "Thing"}
    assert [each["subresource"] for each in things["subresources"]] == ["status"]


def test_a_service_that_does_not_tell_what_it_serves_is_not_asked() -> None:
    api = HookedApi()
    with other_server() as server:
        server.discovery_status = 500
        registered(api, server)

        async def go() -> Any:
            found = await condition(api, "FailedDiscoveryCheck")
            answer = await api.asked("GET", "/apis/remote.dev/v1/things", authorization=AUTH)
            return found, answer

        found, answer = api.run(go())

    url = f"https://localhost:{server.port}/apis/remote.dev/v1"
    assert found["message"] == (
        f"failing or missing response from {url}: bad status from {url}: 500"
    )
    assert (answer.status, answer.text) == (503, b"service unavailable\n")


def test_a_certificate_of_somebody_else_is_not_trusted_unless_everybody_is() -> None:
    with other_server("other.example") as server:
        doubted, trusted = HookedApi(), HookedApi()
        registered(doubted, server)
        registered(trusted, server, caBundle=None, insecureSkipTLSVerify=True)

        found = doubted.run(condition(doubted, "FailedDiscoveryCheck"))
        trusted.run(condition(trusted, "Passed"))

    assert "other.example" in found["message"] or "certificate" in found["message"]
