"""Who may have an extender bind a pod, and who may not: over real sockets."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.net.serving.raw_http import Heard, Served, served
from support.waiting import PATIENCE_S

from podium.addons.extenders import Extender
from podium.addons.extenders.certificates import make_certificates, write_certificates
from podium.addons.extenders.service import ExtenderService
from podium.addons.extenders.serving import Access, AccessGuard, Listening, serve_until

BINDING = json.dumps(
    {"PodName": "web-0", "PodNamespace": "default", "PodUID": "u", "Node": "n1"}
).encode()
JSON = ("Content-Type: application/json",)


class Binder(Extender):
    def __init__(self) -> None:
        self.bound: list[str] = []

    def bind(self, pod_name: str, pod_namespace: str, pod_uid: str, node: str) -> None:
        self.bound.append(f"{pod_namespace}/{pod_name} {pod_uid} {node}")


def post(*headers: str, host: str = "127.0.0.1:{port}") -> bytes:
    lines = ["POST /bind HTTP/1.1", f"Host: {host}", *headers, f"Content-Length: {len(BINDING)}"]
    return "\r\n".join([*lines, "", ""]).encode() + BINDING


def get(path: str, host: str = "127.0.0.1:{port}", *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


@asynccontextmanager
async def listening(binder: Binder, **settings: Any) -> AsyncIterator[Served]:
    """The extender as `podium extender` serves it, on a loopback port."""
    stopping, announced = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(
        serve_until(
            ExtenderService(binder), Listening(port=0, **settings), announced.set_result, stopping
        )
    )
    try:
        url = await asyncio.wait_for(announced, PATIENCE_S)
        yield Served(int(url.rpartition(":")[2]))
    finally:
        stopping.set()
        await serving


def ask(data: bytes) -> tuple[Heard, list[str]]:
    """The answer, and what was bound."""
    binder = Binder()

    async def main() -> Heard:
        async with listening(binder) as server:
            sent = data.replace(b"{port}", str(server.port).encode())
            return await asyncio.wait_for(server.ask(sent), PATIENCE_S)

    return asyncio.run(main()), binder.bound


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_what_a_scheduler_sends_is_taken(host: str) -> None:
    said, bound = ask(post(*JSON, host=host))
    assert (said.status, said.body) == (200, b'{"Error":""}')
    assert bound == ["default/web-0 u n1"]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (post("Content-Type: text/plain", "Origin: http://evil.example"), 403),
        (post("Content-Type: text/plain"), 415),
        (post("Content-Type: application/x-www-form-urlencoded"), 415),
        (post("Content-Type: multipart/form-data; boundary=application/json"), 415),
        (post(), 415),  # a page can send a body without any type
        (post(*JSON, "Origin: http://evil.example"), 403),
        (post(*JSON, "Origin: null"), 403),
        (post(*JSON, "Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"), 403),
        (post(*JSON, host="evil.example"), 421),
        (post(*JSON, host="evil.example:{port}"), 421),
        (post(*JSON, host="127.0.0.1.evil.example"), 421),
        (post(*JSON, host="192.0.2.7:{port}"), 421),
        (post(*JSON, "Origin: http://evil.example:{port}", host="evil.example:{port}"), 421),
    ],
)
def test_what_a_page_of_somebody_else_sends_binds_nothing(data: bytes, status: int) -> None:
    said, bound = ask(data)
    assert (said.status, bound) == (status, [])


def test_pages_are_told_to_no_other_host() -> None:
    assert ask(get("/metrics"))[0].status == 200
    assert ask(get("/metrics", "evil.example"))[0].status == 421
    assert ask(get("/healthz", "10.0.0.9:3456"))[0].status == 200  # as a kubelet asks


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ((), "10.0.0.9:3456", 200),
        ((), "gpu-admission.kube-system:3456", 421),
        (("gpu-admission.kube-system",), "gpu-admission.kube-system:3456", 200),
        (("gpu-admission.kube-system",), "evil.example", 421),
        (None, "gpu-admission.kube-system:3456", 200),
    ],
)
def test_beyond_loopback_addresses_and_allowed_names_are_taken(
    allowed: tuple[str, ...] | None, host: str, status: int
) -> None:
    guard = AccessGuard(
        ExtenderService(Binder()), Access(is_on_loopback=False, allowed_hosts=allowed)
    )

    async def main() -> Heard:
        async with served(guard) as server:
            return await asyncio.wait_for(server.ask(post(*JSON, host=host)), PATIENCE_S)

    assert asyncio.run(main()).status == status


# --- certificates ---------------------------------------------------------------------------------


def client_context(directory: Path, *, shows: bool) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(directory / "ca.crt"))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if shows:
        context.load_cert_chain(directory / "client.crt", directory / "client.key")
    return context


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    write_certificates(tmp_path / "made", ["localhost", "127.0.0.1"], 10)
    return tmp_path / "made"


def ask_securely(directory: Path, context: ssl.SSLContext, data: bytes) -> tuple[Heard, list[str]]:
    binder = Binder()
    files = {
        "certificate": directory / "tls.crt",
        "key": directory / "tls.key",
        "client_ca": directory / "ca.crt",
    }

    async def main() -> Heard:
        async with listening(binder, **files) as server, server.client(context) as client:
            sent = data.replace(b"{port}", str(server.port).encode())
            return await asyncio.wait_for(client.ask(sent), PATIENCE_S)

    return asyncio.run(main()), binder.bound


def test_a_client_with_a_certificate_of_the_ca_may_bind(certificates: Path) -> None:
    context = client_context(certificates, shows=True)
    name = "gpu-admission.kube-system:3456"
    said, bound = ask_securely(certificates, context, post(*JSON, host=name))
    assert (said.status, bound) == (200, ["default/web-0 u n1"])
    said, bound = ask_securely(certificates, context, post("Content-Type: text/plain", host=name))
    assert (said.status, bound) == (415, [])


@pytest.mark.parametrize(
    ("data", "status"), [(post(*JSON), 401), (get("/metrics"), 401), (get("/healthz"), 200)]
)
def test_a_client_without_one_is_told_of_health_alone(
    certificates: Path, data: bytes, status: int
) -> None:
    said, bound = ask_securely(certificates, client_context(certificates, shows=False), data)
    assert (said.status, bound) == (status, [])


def test_a_certificate_of_another_ca_ends_the_connection(
    certificates: Path, tmp_path: Path
) -> None:
    stranger = trustme.CA().issue_cert("scheduler")
    pem = tmp_path / "stranger.pem"
    stranger.private_key_and_cert_chain_pem.write_to_path(str(pem))
    context = client_context(certificates, shows=False)
    context.load_cert_chain(pem)
    with pytest.raises((ssl.SSLError, OSError, asyncio.IncompleteReadError)):
        ask_securely(certificates, context, post(*JSON))


def test_the_certificate_of_the_server_is_none_for_a_client(certificates: Path) -> None:
    context = client_context(certificates, shows=False)
    context.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
    with pytest.raises((ssl.SSLError, OSError, asyncio.IncompleteReadError)):
        ask_securely(certificates, context, post(*JSON))


def test_keys_are_their_owners_alone_and_that_of_the_ca_is_kept_nowhere(certificates: Path) -> None:
    assert {path.name for path in certificates.iterdir()} == {
        *("ca.crt", "tls.crt", "tls.key", "client.crt", "client.key")
    }
    assert {path.stat().st_mode & 0o077 for path in certificates.iterdir()} == {0}
    again = make_certificates(["localhost"], 1, datetime(2026, 1, 1, tzinfo=UTC))
    assert again["ca.crt"] != (certificates / "ca.crt").read_bytes()
