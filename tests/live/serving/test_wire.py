"""The management endpoints byte by byte: who speaks for whom, and what is taken before that."""

import asyncio
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from support.live.management_pages import settings, surface
from support.net.serving.raw_http import Heard, Served
from support.waiting import PATIENCE_S

from podium.live.serving import ManagementServer
from podium.net.serving import Limits

LOOPBACK = ("--bind-address=127.0.0.1", "--secure-port=0")


def endpoints(*flags: str, limits: Limits | None = None) -> ManagementServer:
    return ManagementServer(surface(), settings(*LOOPBACK, *flags), limits=limits or Limits())


def blind() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def heard(server: ManagementServer, data: bytes, context: ssl.SSLContext | None = None) -> Heard:
    async def main() -> Heard:
        async with server:
            port = urlsplit(server.url).port or 0
            async with Served(port).client(context or blind()) as client:
                return await asyncio.wait_for(client.ask(data), PATIENCE_S)

    return asyncio.run(main())


def test_a_trailer_of_a_users_request_does_not_put_him_into_a_group(tmp_path: Path) -> None:
    proxies = trustme.CA()
    proxies.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    front = blind()
    proxies.issue_cert(common_name="front").configure_cert(front)
    flags = (f"--requestheader-client-ca-file={tmp_path / 'ca.pem'}",)
    head = (
        b"PUT /metrics HTTP/1.1\r\nHost: x\r\nX-Remote-User: jane\r\nTransfer-Encoding: chunked\r\n"
    )
    smuggled = b"\r\n1\r\nx\r\n0\r\nX-Remote-Group: system:masters\r\n\r\n"
    stated = b"X-Remote-Group: system:masters\r\n\r\n1\r\nx\r\n0\r\n\r\n"

    assert heard(endpoints(*flags), head + smuggled, front).status == 403
    assert heard(endpoints(*flags), head + stated, front).status == 200


@pytest.mark.parametrize("query", ["exclude=x;verbose", "verbose&exclude=%zz"])
def test_a_query_that_is_not_read_whole_is_refused(query: str) -> None:
    said = heard(endpoints(), f"GET /healthz?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    assert said.status == 400


def test_a_stranger_is_refused_before_anything_of_a_body_is_read() -> None:
    head = b"PUT /debug/flags/v HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"

    assert heard(endpoints(), head).status == 403


def test_the_limits_of_every_listener_are_its_limits_too() -> None:
    head = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 3000 + b"\r\n\r\n"

    assert heard(endpoints(), head).status == 200
    assert heard(endpoints(limits=Limits(max_head_bytes=2000)), head).status == 431
