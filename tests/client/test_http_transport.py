"""Requests over real sockets: connections, TLS, credentials, and servers that misbehave."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.addons.extenders.extender_servers import Request as Seen
from support.addons.extenders.extender_servers import answering, never, reply, serving
from support.live.virtual_loop import run_virtually
from support.waiting import PATIENCE_S

from podium.client import HttpTransport, Unreachable
from podium.client.credentials import Certificate, Credential, FixedCredentials
from podium.client.transport import Request
from podium.scheduler.config.kubeconfig import ClusterEntry

GET = Request("GET", "/api/v1/pods", (("limit", "500"),))
PUT = Request("PUT", "/api/v1/pods/a", (), b"{}")
NOBODY = FixedCredentials(Credential())
read_or_written = pytest.mark.parametrize("asked", [GET, PUT], ids=["read", "written"])


def run(main: Callable[[], Any]) -> None:
    asyncio.run(main())


def test_a_request_carries_headers_and_credentials_and_keeps_its_connection() -> None:
    async def main() -> None:
        async with serving(answering(b'{"ok":true}', headers=["X-One: 1"])) as server:
            credentials = FixedCredentials(Credential({"Authorization": "Bearer secret"}))
            headers = [("User-Agent", "podium/1"), ("Impersonate-Group", "a")]
            headers.append(("Impersonate-Group", "b"))
            transport = HttpTransport(
                ClusterEntry(server=server.url + "/base/"), credentials, headers=headers
            )
            for _ in range(3):
                answer = await transport.send(GET, timeout_s=PATIENCE_S)
            assert (answer.status, answer.body) == (200, b'{"ok":true}')
            assert answer.headers["x-one"] == "1"
            patch = Request("PATCH", "/x", (), b"{}", "application/merge-patch+json")
            for _ in range(3):
                answer = await transport.send(patch, timeout_s=PATIENCE_S)
            assert (answer.status, answer.body) == (200, b'{"ok":true}')
            assert answer.headers["x-one"] == "1"
            await transport.close()
            # One for reads and one for writes.
            assert server.connections == 2
            assert server.requests[0].path == "/base/api/v1/pods?limit=500"
            for seen in server.requests:
                assert seen.headers["authorization"] == "bearer secret"
                assert seen.headers["user-agent"] == "podium/1"
                assert seen.headers["accept"] == "application/json"
            assert server.requests[3].path == "/base/x"
            assert server.requests[3].headers["content-type"] == "application/merge-patch+json"
            assert server.requests[3].body == b"{}"

    run(main)


def test_compressed_answers_are_unpacked() -> None:
    async def main() -> None:
        packed = gzip.compress(b"x" * 1000)
        async with serving(answering(packed, headers=["Content-Encoding: gzip"])) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), NOBODY)
            assert (await transport.send(GET, timeout_s=PATIENCE_S)).body == b"x" * 1000
            await transport.close()

    run(main)


def test_a_stream_comes_in_pieces_and_is_cut_when_it_is_left() -> None:
    async def main() -> None:
        gone = asyncio.Event()

        async def streams(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in (b"one\n", b"two\n"):
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
            while not writer.is_closing():
                writer.write(b"1\r\n.\r\n")
                await asyncio.sleep(0)
            gone.set()

        async with serving(streams) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), NOBODY)
            async with transport.stream(GET, timeout_s=PATIENCE_S) as stream:
                read = b""
                async for piece in stream.pieces:
                    read += piece
                    if read.count(b"\n") == 2:
                        break
                assert read.startswith(b"one\ntwo\n")
            async with asyncio.timeout(PATIENCE_S):
                await gone.wait()
            await transport.close()

    run(main)


@read_or_written
def test_an_answer_that_breaks_off_is_no_answer(asked: Request) -> None:
    async def breaks(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        await writer.drain()
        writer.close()

    async def main() -> None:
        async with serving(breaks) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), NOBODY)
            with pytest.raises(Unreachable, match="broke off"):
                await transport.send(asked, timeout_s=PATIENCE_S)
            await transport.close()

    run(main)


@read_or_written
def test_nobody_there_is_told_apart_from_other_trouble(asked: Request) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        transport = HttpTransport(ClusterEntry(server=f"http://127.0.0.1:{port}"), NOBODY)
        with pytest.raises(Unreachable) as caught:
            await transport.send(asked, timeout_s=PATIENCE_S)
        assert caught.value.refused
        with pytest.raises(Unreachable):
            async with transport.stream(GET, timeout_s=PATIENCE_S):
                pass
        await transport.close()

    run(main)


@read_or_written
def test_a_server_that_hangs_is_given_up(asked: Request) -> None:
    async def main() -> None:
        async with serving(never) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), NOBODY)
            with pytest.raises(Unreachable, match=r"within 0\.05 s") as caught:
                await transport.send(asked, timeout_s=0.05)
            assert not caught.value.in_time
            with pytest.raises(Unreachable, match=r"within 0\.05 s"):
                async with transport.stream(GET, timeout_s=0.05):
                    pass
            await transport.close()

    run_virtually(main())


class Renewing:
    """Credentials that the server takes only once they were renewed."""

    def __init__(self) -> None:
        self.number = 0

    async def current(self) -> Credential:
        return Credential({"Authorization": f"Bearer {self.number}"})

    def handle_unauthorized(self) -> bool:
        self.number += 1
        return True


@read_or_written
def test_refused_credentials_are_renewed_once(asked: Request) -> None:
    async def takes(seen: Seen, writer: asyncio.StreamWriter) -> None:
        accepted = seen.headers["authorization"] == "bearer 1"
        reply(writer, b"{}", "200 OK" if accepted else "401 Unauthorized")

    async def main() -> None:
        async with serving(takes) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), Renewing())
            assert (await transport.send(asked, timeout_s=PATIENCE_S)).status == 200
            await transport.close()
        async with serving(answering(b"{}", "401 Unauthorized")) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), Renewing())
            assert (await transport.send(asked, timeout_s=PATIENCE_S)).status == 401
            assert len(server.requests) == 2
            await transport.close()

    run(main)


@read_or_written
def test_redirects_are_not_followed(asked: Request) -> None:
    async def main() -> None:
        away = answering(b"", "302 Found", ["Location: http://127.0.0.1:1/"])
        async with serving(away) as server:
            transport = HttpTransport(ClusterEntry(server=server.url), NOBODY)
            assert (await transport.send(asked, timeout_s=PATIENCE_S)).status == 302
            await transport.close()

    run(main)


# --- TLS --------------------------------------------------------------------------------------


def _server_tls(authority: trustme.CA, *, clients: trustme.CA | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.test", "127.0.0.1").configure_cert(context)
    if clients is not None:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


@read_or_written
def test_a_server_is_known_by_its_authority_and_clients_by_theirs(
    asked: Request, tmp_path: Path
) -> None:
    authority, clients = trustme.CA(), trustme.CA()
    issued = clients.issue_cert("someone")
    chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    certificate = Certificate(chain, issued.private_key_pem.bytes())
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(authority.cert_pem.bytes())

    async def main() -> None:
        tls = _server_tls(authority, clients=clients)
        async with serving(answering(b"{}"), tls) as server:
            known = FixedCredentials(Credential({}, certificate))
            for cluster in (
                ClusterEntry(server=server.url, certificate_authority=str(ca_file)),
                ClusterEntry(
                    server=server.url,
                    certificate_authority_data=authority.cert_pem.bytes(),
                    tls_server_name="api.test",
                ),
                ClusterEntry(server=server.url, insecure_skip_tls_verify=True),
            ):
                transport = HttpTransport(cluster, known)
                assert (await transport.send(asked, timeout_s=PATIENCE_S)).status == 200
                await transport.close()

    run(main)


@read_or_written
def test_a_server_of_another_authority_or_name_is_not_spoken_to(asked: Request) -> None:
    authority = trustme.CA()

    async def main() -> None:
        async with serving(answering(b"{}"), _server_tls(authority)) as server:
            for cluster in (
                ClusterEntry(server=server.url),
                ClusterEntry(
                    server=server.url, certificate_authority_data=trustme.CA().cert_pem.bytes()
                ),
                ClusterEntry(
                    server=server.url,
                    certificate_authority_data=authority.cert_pem.bytes(),
                    tls_server_name="other.test",
                ),
            ):
                transport = HttpTransport(cluster, NOBODY)
                with pytest.raises(Unreachable, match=r"(?i)certificate"):
                    await transport.send(asked, timeout_s=PATIENCE_S)
                await transport.close()
            assert server.requests == []

    run(main)


@read_or_written
def test_a_new_client_certificate_makes_new_connections(asked: Request) -> None:
    authority = trustme.CA()

    class Changing:
        certificate: Certificate | None = None

        async def current(self) -> Credential:
            return Credential({}, self.certificate)

        def handle_unauthorized(self) -> bool:
            return False

    async def main() -> None:
        async with serving(answering(b"{}"), _server_tls(authority)) as server:
            credentials = Changing()
            cluster = ClusterEntry(
                server=server.url, certificate_authority_data=authority.cert_pem.bytes()
            )
            transport = HttpTransport(cluster, credentials)
            await transport.send(asked, timeout_s=PATIENCE_S)
            issued = authority.issue_cert("someone")
            chain = issued.cert_chain_pems[0].bytes()
            credentials.certificate = Certificate(chain, issued.private_key_pem.bytes())
            await transport.send(asked, timeout_s=PATIENCE_S)
            await transport.send(asked, timeout_s=PATIENCE_S)
            await transport.close()
            assert server.connections == 2

    run(main)
