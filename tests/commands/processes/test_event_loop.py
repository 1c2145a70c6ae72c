"""The event loop of commands: what it reports, and the one thing that it need not."""

import asyncio
import logging
import ssl
from pathlib import Path

import pytest

from podium.apiserver.serving.certificates import ensure_certificates
from podium.commands.processes.event_loop import run


async def close_when_connected(serving: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    """Close a socket at the moment when its TLS stands, and report what uvloop then reports now and
    again: bytes that came late were answered."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving)
    loop = asyncio.get_running_loop()
    port = server.sockets[0].getsockname()[1]
    raw, protocol = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
    await loop.start_tls(raw, protocol, trusting, server_hostname="127.0.0.1")
    tls = raw.get_protocol()
    raw.abort()
    late = RuntimeError("unable to perform operation on a closed transport")
    said = "Fatal error on SSL protocol"
    context = {"message": said, "exception": late, "transport": raw, "protocol": tls}
    loop.call_exception_handler(context)
    for _ in range(100):  # turns of the loop, in which the server sees the end
        await asyncio.sleep(0)
    server.close()
    await server.wait_closed()


def test_a_connection_that_is_given_up_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = ensure_certificates(tmp_path, "127.0.0.1")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(made.certificate_file, made.key_file)
    trusting = ssl.create_default_context(cadata=made.authority.decode())
    with caplog.at_level(logging.ERROR, "asyncio"):
        run(close_when_connected(serving, trusting))
    assert caplog.messages == []


class SSLProtocol:
    """What uvloop calls its own."""


def test_a_socket_that_the_other_end_has_closed_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def report() -> None:
        late = RuntimeError("unable to perform operation on <TCPTransport>; the handler is closed")
        context = {"message": "Fatal error", "exception": late, "protocol": SSLProtocol()}
        asyncio.get_running_loop().call_exception_handler(context)

    with caplog.at_level(logging.ERROR, "asyncio"):
        run(report())
    assert caplog.messages == []


def test_every_other_report_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def break_a_callback() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)
        await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR, "asyncio"):
        run(break_a_callback())
    [record] = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError
