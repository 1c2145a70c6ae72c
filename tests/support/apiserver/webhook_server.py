"""An HTTPS server on loopback that answers as webhooks do, well or badly, and notes what it saw."""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import trustme

Json = dict[str, Any]


@dataclass
class Raw:
    """An answer that need not be a review."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Behaviour = Callable[[Json], Json | Raw]
"""From an AdmissionRequest to the fields of a response beside its uid."""


@dataclass
class Seen:
    path: str
    review: Json
    headers: dict[str, str]

    @property
    def request(self) -> Json:
        found: Json = self.review["request"]
        return found


def allow(_: Json) -> Json:
    return {"allowed": True}


def patching(*operations: Json) -> Behaviour:
    return lambda _: {
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": base64.b64encode(json.dumps(operations).encode()).decode(),
    }


def denying(**status: Any) -> Behaviour:
    return lambda _: {"allowed": False, **({"status": status} if status else {})}


@dataclass
class WebhookServer:
    port: int
    ca_bundle: str
    seen: list[Seen] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)

    def at(self, path: str, behaviour: Behaviour = allow) -> Json:
        """Behave so under a path; gives the clientConfig that leads there."""
        self.behaviours[path] = behaviour
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.ca_bundle}

    def requests(self, path: str) -> list[Json]:
        return [each.request for each in self.seen if each.path.partition("?")[0] == path]


@contextmanager
def webhook_server(*names: str) -> Iterator[WebhookServer]:
    """Serve under these names, those of loopback if there are none."""
    authority = trustme.CA()
    certificate = authority.issue_cert(*(names or ("127.0.0.1", "localhost")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            review = json.loads(body)
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.seen.append(Seen(self.path, review, headers))
            answer = server.behaviours[self.path.partition("?")[0]](review["request"])
            if isinstance(answer, dict):
                response = {"uid": review["request"]["uid"], **answer}
                whole = {**review, "request": None, "response": response}
                answer = Raw(200, json.dumps(whole).encode(), {"Content-Type": "application/json"})
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def get_request(self) -> tuple[Any, Any]:
            connection, address = super().get_request()
            wrapped = context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
            return wrapped, address

        def handle_error(self, *_: object) -> None:
            """A client that does not trust the certificate is no error of the test."""

    listener = Server(("127.0.0.1", 0), Handler)
    bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
    server = WebhookServer(listener.server_address[1], bundle)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
