"""Extenders that fail, each in its own way: the call ends as it should, and the others go on."""

import asyncio
import gzip
import json
import socket
import ssl

import pytest
import trustme
from support.addons.extenders.extender_servers import (
    Answer,
    Request,
    Server,
    answering,
    ask,
    bind_call,
    filter_call,
    make_client,
    make_extender,
    never,
    preempt_call,
    prioritize_call,
    reply,
    serving,
)
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client.extenders.client import SMALL_ANSWER
from podium.scheduler.config.types import ExtenderTLSConfig
from podium.scheduler.framework.asking import (
    CallFailed,
    ExtenderAnswer,
    FilterAnswer,
    PrioritizeAnswer,
)

SHORT = "200ms"
GOOD = json.dumps({"NodeNames": ["n2"]}).encode()
LATE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
LATE_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


def outcome(answer: Answer, timeout: str = "5s", **fields: object) -> tuple[ExtenderAnswer, Server]:
    """What becomes of a filter call, asked together with one of a healthy extender."""

    async def story() -> tuple[ExtenderAnswer, Server]:
        async with serving(answer) as server, serving(answering(GOOD)) as healthy:
            faulty, other = await ask(
                filter_call(make_extender(server.url, timeout, **fields)),
                filter_call(make_extender(healthy.url)),
            )
        assert other == FilterAnswer(node_names=("n2",))
        return faulty, server

    return run_virtually(story())


def problem(answer: ExtenderAnswer) -> str:
    assert isinstance(answer, CallFailed)
    return answer.problem


# silence and slowness


def test_an_extender_that_hangs_ends_at_the_deadline() -> None:
    answer, server = outcome(never, SHORT)
    assert problem(answer) == f'Post "{server.url}/filter": {LATE}'


def test_the_deadline_covers_headers_that_trickle() -> None:
    async def drip(_: Request, writer: asyncio.StreamWriter) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000:
            writer.write(bytes([byte]))
            await writer.drain()
            await sleep_virtually(0.02)

    answer, server = outcome(drip, SHORT)
    assert problem(answer) == f'Post "{server.url}/filter": {LATE}'


def test_the_deadline_covers_a_body_that_trickles() -> None:
    async def drip(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for byte in b'{"NodeNames": [' + b" " * 100_000:
            writer.write(bytes([byte]))
            await writer.drain()
            await sleep_virtually(0.02)

    answer, server = outcome(drip, "1s")
    assert problem(answer) == f"failed filter with extender at URL {server.url}/filter: {LATE_BODY}"


def test_a_whole_answer_counts_although_its_connection_stays_open() -> None:
    async def unfinished(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + GOOD + b"\n")
        await writer.drain()
        await asyncio.Event().wait()

    answer, _ = outcome(unfinished, "1s")
    assert answer == FilterAnswer(node_names=("n2",))


# closing early


async def close_at_once(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def close_in_headers(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-")
    writer.close()


@pytest.mark.parametrize("answer", [close_at_once, close_in_headers])
def test_a_connection_closed_before_the_answer_is_eof(answer: Answer) -> None:
    failed, server = outcome(answer)
    assert problem(failed) == f'Post "{server.url}/filter": EOF'
    assert len(server.requests) == 1, "nothing is sent again"


def test_a_connection_closed_within_the_answer_is_unexpected_eof() -> None:
    async def truncate(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + GOOD[:10])
        writer.close()

    answer, server = outcome(truncate)
    assert problem(answer).endswith("/filter: unexpected EOF")
    assert server.url in problem(answer)


def test_a_kept_connection_that_was_closed_meanwhile_is_replaced() -> None:
    async def once_each(_: Request, writer: asyncio.StreamWriter) -> None:
        reply(writer, GOOD)
        await writer.drain()
        writer.close()

    async def story() -> None:
        async with serving(once_each) as server:
            extender = make_extender(server.url)
            client = make_client(extender)
            for _ in range(5):
                (answer,) = await client.ask((filter_call(extender),))
                assert answer == FilterAnswer(node_names=("n2",))
            await client.close()
            assert server.connections == 5

    asyncio.run(story())


def test_a_kept_connection_that_closes_instead_of_answering_is_replaced() -> None:
    seen: set[asyncio.StreamWriter] = set()

    async def first_only(_: Request, writer: asyncio.StreamWriter) -> None:
        if writer in seen:
            writer.close()
        else:
            seen.add(writer)
            reply(writer, GOOD)

    async def story() -> None:
        async with serving(first_only) as server:
            extender = make_extender(server.url)
            client = make_client(extender)
            for _ in range(3):
                (answer,) = await client.ask((filter_call(extender),))
                assert answer == FilterAnswer(node_names=("n2",))
            await client.close()
            assert (server.connections, len(server.requests)) == (3, 5)

    asyncio.run(story())


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (answer,) = asyncio.run(ask(filter_call(make_extender(f"http://127.0.0.1:{port}"))))
    refused = f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    assert problem(answer) == f'Post "http://127.0.0.1:{port}/filter": {refused}'


# nonsense


def test_what_is_not_http_is_told() -> None:
    async def babble(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        writer.close()

    answer, server = outcome(babble)
    text = problem(answer)
    assert text.startswith(f'Post "{server.url}/filter": net/http: HTTP/1.x transport connection')


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no", "invalid character 'o' in literal null (expecting 'u')"),
        (b"<html></html>", "invalid character '<' looking for beginning of value"),
        (b"", "EOF"),
        (b" \n", "EOF"),
        (b'{"NodeNames": ["n1"', "unexpected EOF"),
        (b"\xff\xfe\x00", "invalid character 'ï' looking for beginning of value"),
        (b"[" * 200_000, "exceeded max depth"),
        (
            b'{"NodeNames": "n1"}',
            "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames"
            " of type []string",
        ),
    ],
    ids=["word", "html", "empty", "blank", "cut", "bytes", "deep", "type"],
)
def test_garbage_is_told_with_the_extender_it_came_from(body: bytes, said: str) -> None:
    answer, server = outcome(answering(body))
    assert problem(answer) == f"failed filter with extender at URL {server.url}/filter: {said}"


@pytest.mark.parametrize("status", ["201 Created", "204 No Content", "404 Not Found", "500 Oh no"])
def test_only_status_200_is_success(status: str) -> None:
    answer, server = outcome(answering(b"", status))
    code, _ = status.split(maxsplit=1)
    assert problem(answer) == f"failed filter with extender at URL {server.url}/filter, code {code}"


def test_nodes_that_nobody_asked_about_are_handed_on_for_the_engine_to_judge() -> None:
    answer, _ = outcome(answering(b'{"NodeNames": ["n9"], "FailedNodes": {"n8": "gone"}}'))
    assert answer == FilterAnswer(node_names=("n9",), failed={"n8": "gone"})


# size


def test_an_answer_of_100_mb_is_cut_off() -> None:
    sent = 0

    async def flood(_: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n" + b'{"NodeNames": ["')
        for _piece in range(1600):
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    answer, _ = outcome(flood)
    assert problem(answer).endswith("/filter: the answer is larger than 16 MiB")
    assert sent < 2 * SMALL_ANSWER


def test_an_answer_may_be_twice_as_large_as_a_large_request() -> None:
    names = tuple(f"{number:050}" for number in range(100_000))

    async def echo_with_reasons(request: Request, writer: asyncio.StreamWriter) -> None:
        asked = request.decoded()["NodeNames"]
        reply(writer, json.dumps({"FailedNodes": dict.fromkeys(asked, "no power")}).encode())

    async def story() -> ExtenderAnswer:
        async with serving(echo_with_reasons) as server:
            (answer,) = await ask(filter_call(make_extender(server.url, "30s"), nodes=names))
            return answer

    answer = asyncio.run(story())
    assert isinstance(answer, FilterAnswer)
    assert len(answer.failed) == len(names)


def test_a_small_gzip_that_unpacks_to_a_lot_is_cut_off() -> None:
    packed = gzip.compress(b'{"Error": "' + b"x" * (100 << 20))
    assert len(packed) < 1 << 20
    answer, _ = outcome(answering(packed, headers=["Content-Encoding: gzip"]))
    assert problem(answer).endswith("/filter: the answer is larger than 16 MiB")


def test_gzip_that_is_none_is_told() -> None:
    answer, _ = outcome(answering(GOOD, headers=["Content-Encoding: gzip"]))
    assert problem(answer).endswith("/filter: gzip: invalid header")


# redirects


def test_a_redirect_loop_ends() -> None:
    answer, server = outcome(answering(b"", "307 Temporary Redirect", ["Location: /filter"]))
    assert problem(answer) == f'Post "{server.url}/filter": stopped after 10 redirects'
    assert len(server.requests) == 10


def test_a_redirect_without_a_location_is_a_bad_status() -> None:
    answer, _ = outcome(answering(b"", "302 Found"))
    assert problem(answer).endswith("/filter, code 302")


def test_a_redirect_to_nowhere_is_told() -> None:
    answer, _ = outcome(answering(b"", "308 Moved", ["Location: ftp://example.invalid/x"]))
    assert problem(answer) == ('Post "ftp://example.invalid/x": unsupported protocol scheme "ftp"')


# TLS


def test_a_certificate_of_an_unknown_authority_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def story() -> None:
        async with serving(answering(GOOD), context) as server:
            (answer,) = await ask(filter_call(make_extender(server.url)))
            unknown = "tls: failed to verify certificate: x509: certificate signed by unknown"
            assert problem(answer) == f'Post "{server.url}/filter": {unknown} authority'

    asyncio.run(story())


def test_a_certificate_of_another_name_is_refused() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("elsewhere.example").configure_cert(context)
    trusted = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes())

    async def story() -> None:
        async with serving(answering(GOOD), context) as server:
            extender = make_extender(server.url, enable_https=True, tls_config=trusted)
            (answer,) = await ask(filter_call(extender))
            assert "certificate is not valid for 127.0.0.1" in problem(answer)

    asyncio.run(story())


def test_plain_http_where_tls_was_expected_is_told() -> None:
    async def story() -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            writer.close()

        listening = await asyncio.start_server(plain, "127.0.0.1", 0)
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        (answer,) = await ask(filter_call(make_extender(url, enable_https=True)))
        listening.close()
        said = "http: server gave HTTP response to HTTPS client"
        assert problem(answer) == f'Post "{url}/filter": {said}'

    asyncio.run(story())


# every verb


def test_each_call_of_a_batch_has_its_own_fate() -> None:
    async def by_verb(request: Request, writer: asyncio.StreamWriter) -> None:
        match request.path:
            case "/filter":
                writer.close()
            case "/prioritize":
                reply(writer, b'[{"Host": "n1", "Score": 3}]')
            case "/preempt":
                reply(writer, b"{", "503 Service Unavailable")
            case "/bind":
                reply(writer, b'{"Error": "no such pod"}')

    async def story() -> None:
        async with serving(by_verb) as server:
            extender = make_extender(server.url)
            filtered, scored, preempted, bound = await ask(
                filter_call(extender),
                prioritize_call(extender),
                preempt_call(extender),
                bind_call(extender),
            )
            assert problem(filtered) == f'Post "{server.url}/filter": EOF'
            assert scored == PrioritizeAnswer((("n1", 3),))
            assert problem(preempted).endswith(f"at URL {server.url}/preempt, code 503")
            assert problem(bound) == "no such pod"

    asyncio.run(story())
