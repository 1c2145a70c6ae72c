"""The API server on a real socket: what it takes from whom, byte by byte."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, config_map
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.net.serving.raw_http import Heard, RawClient, Served
from support.waiting import PATIENCE_S

from podium.apiserver.serving.server import ApiServer, ServerOptions
from podium.net.serving import Limits

JSON = "Content-Type: application/json"


class Wire(Served):
    """A server, and requests to it with its token."""

    server_under_test: ApiServer

    def head(self, method: str, target: str, *lines: str, token: bool = True) -> bytes:
        api = self.server_under_test
        shown = () if api.options.plain or not token else (f"Authorization: Bearer {api.token}",)
        host = () if any(line.startswith("Host:") for line in lines) else ("Host: localhost",)
        written = (f"{method} {target} HTTP/1.1", *host, *shown, *lines, "", "")
        return "\r\n".join(written).encode("latin-1")

    def request(self, method: str, target: str, body: Any = None, *lines: str) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        sized = (f"Content-Length: {len(content)}", JSON) if content else ()
        return self.head(method, target, *sized, *lines) + content

    @property
    def context(self) -> ssl.SSLContext | None:
        files = self.server_under_test.certificates
        if files is None:
            return None
        return ssl.create_default_context(cadata=files.authority.decode())

    @contextlib.asynccontextmanager
    async def client(self, context: ssl.SSLContext | None = None) -> AsyncIterator[RawClient]:
        async with super().client(context or self.context) as client:
            yield client

    async def names(self) -> list[str]:
        listed = json.loads((await self.ask(self.request("GET", CONFIG_MAPS))).body)
        return sorted(item["metadata"]["name"] for item in listed["items"])


@contextlib.asynccontextmanager
async def wired(*, plain: bool = False, limits: Limits | None = None) -> AsyncIterator[Wire]:
    server = ApiServer(ServerOptions(plain=plain, limits=limits or Limits()))
    running = asyncio.ensure_future(server.serve())
    await server.application()
    wire = Wire(int(server.url.rpartition(":")[2]))
    wire.server_under_test = server
    try:
        yield wire
    finally:
        server.stop()
        await running


# --- before anybody is known ----------------------------------------------------------------------


@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_a_stranger_is_refused_before_anything_of_a_body_is_read(framing: str) -> None:
    async def main() -> list[int]:
        async with wired() as wire:
            strangers = ((framing, JSON), (framing, JSON, "Authorization: Bearer wrong"))
            heads = [wire.head("POST", CONFIG_MAPS, *lines, token=False) for lines in strangers]
            return [(await wire.ask(head)).status for head in heads]

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE_S)) == [403, 401]


def test_so_is_a_user_who_may_not() -> None:
    async def main() -> int:
        async with wired() as wire:
            lines = ("Content-Length: 3000000", JSON, "Impersonate-User: nobody")
            return (await wire.ask(wire.head("POST", CONFIG_MAPS, *lines))).status

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE_S)) == 403


@pytest.mark.parametrize("trailer", ["Impersonate-User:", "Impersonate-Group: system:masters"])
def test_a_trailer_does_not_change_an_impersonation(trailer: str) -> None:
    async def main() -> tuple[int, list[str]]:
        async with wired() as wire:
            content = json.dumps(config_map("stolen")).encode()
            lines = ("Transfer-Encoding: chunked", JSON, "Impersonate-User: nobody")
            data = wire.head("POST", CONFIG_MAPS, *lines)
            data += b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(content), content, trailer.encode())
            return (await wire.ask(data)).status, await wire.names()

    status, names = asyncio.run(main())
    assert status == 403
    assert "stolen" not in names


def test_of_a_repeated_header_the_first_counts() -> None:
    async def main() -> int:
        async with wired() as wire:
            return (await wire.ask(wire.head("GET", CONFIG_MAPS, "Authorization: Bearer x"))).status

    assert asyncio.run(main()) == 200


def test_whoever_speaks_plainly_to_a_server_with_tls_is_told() -> None:
    async def main() -> bytes:
        async with wired() as wire, Served(wire.port).client() as client:
            client.send(wire.head("GET", "/version"))
            return await client.until_closed()

    assert b"Client sent an HTTP request to an HTTPS server." in asyncio.run(main())


def test_a_head_that_is_not_finished_in_time_is_given_up() -> None:
    async def main() -> bytes:
        async with wired(limits=Limits(head_timeout_s=0.2)) as wire, wire.client() as client:
            client.send(b"GET / HTTP/1.1\r\n")
            return await client.until_closed()

    assert run_virtually(main()) == b""


# --- nothing that cannot be read is taken as absent -----------------------------------------------


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("dryRun=All&" + "&".join(f"p{number}=1" for number in range(101)), 200),
        ("dryRun=All&" + "&".join(f"p{number}=1" for number in range(10_000)), 400),
        ("dryRun=All;x=1", 400),
        ("x=%zz&dryRun=All", 400),
        ("dryRun=%ff", 400),
        ("x=1#&dryRun=All", 200),
        ("labelSelector=a%3Db&x=%", 400),
    ],
)
def test_a_deletion_whose_query_is_not_read_whole_deletes_nothing(query: str, status: int) -> None:
    async def main() -> tuple[int, list[str]]:
        async with wired() as wire:
            await wire.ask(wire.request("POST", CONFIG_MAPS, config_map("kept")))
            said = await wire.ask(wire.request("DELETE", f"{CONFIG_MAPS}?{query}"))
            return said.status, await wire.names()

    found, names = asyncio.run(main())
    assert found == status
    assert "kept" in names


@pytest.mark.parametrize("framing", ["Content-Length: 19", "Transfer-Encoding: chunked"])
def test_a_deletion_whose_body_is_cut_off_deletes_nothing(framing: str) -> None:
    async def main() -> list[str]:
        async with wired() as wire:
            await wire.ask(wire.request("POST", CONFIG_MAPS, config_map("kept")))
            async with wire.client() as client:
                client.send(wire.head("DELETE", f"{CONFIG_MAPS}/kept", framing, JSON))
                await sleep_virtually(0.1)
                client.writer.close()
            await sleep_virtually(0.1)
            return await wire.names()

    assert "kept" in run_virtually(main())


# --- answers --------------------------------------------------------------------------------------


def test_a_warning_that_no_header_can_carry_is_left_out() -> None:
    name = "bad\\nname\\u0085\\u0000"
    content = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},'
        f'"{name}":1,"unknown \\"x\\"":1}}'
    ).encode()

    async def main() -> tuple[Heard, int]:
        async with wired() as wire, wire.client() as client:
            lines = (f"Content-Length: {len(content)}", JSON)
            first = await client.ask(wire.head("POST", CONFIG_MAPS, *lines) + content)
            return first, (await client.ask(wire.head("GET", f"{CONFIG_MAPS}/c"))).status

    first, second = asyncio.run(main())
    assert first.status == 201
    assert first.headers["warning"] == '299 - "unknown field \\"unknown \\\\\\"x\\\\\\"\\""'
    assert second == 200


def test_a_list_that_is_not_read_is_not_held() -> None:
    """40 MB of objects, a client that takes nothing: the server sends what the kernel holds."""

    async def main() -> int:
        async with wired(plain=True, limits=Limits(write_timeout_s=0.5)) as wire:
            async with wire.client() as client:
                for number in range(60):
                    large = config_map(f"c{number}", k="v" * 700_000)
                    assert (
                        await client.ask(wire.request("POST", CONFIG_MAPS, large))
                    ).status == 201
            deaf = wire.socket()
            deaf.sendall(wire.head("GET", CONFIG_MAPS))
            await sleep_virtually(1.5)
            received = 0
            with contextlib.suppress(ConnectionError):
                while part := await asyncio.get_running_loop().sock_recv(deaf, 1 << 20):
                    received += len(part)
            deaf.close()
            return received

    assert run_virtually(main()) < 16 << 20


@pytest.mark.parametrize("wanted", ["-1", "-9000000000"])
@pytest.mark.parametrize("query", ["", "&resourceVersion=0", "&allowWatchBookmarks=true"])
def test_a_watch_whose_time_lies_in_the_past_ends_as_soon_as_it_has_begun(
    wanted: str, query: str
) -> None:
    async def main() -> list[Heard]:
        async with wired(plain=True) as wire:
            target = f"{CONFIG_MAPS}?watch=true&timeoutSeconds={wanted}{query}"
            async with wire.client() as client:
                watched = await client.ask(wire.head("GET", target))
                return [watched, await client.ask(wire.head("GET", "/version"))]

    watched, after = run_virtually(main())
    assert watched.status == 200
    assert {json.loads(line)["type"] for line in watched.body.splitlines()} <= {"ADDED", "BOOKMARK"}
    assert after.status == 200


# --- without TLS ----------------------------------------------------------------------------------


def plainly(*lines: str, method: str = "GET", target: str = "/version", body: str = "") -> Heard:
    async def main() -> Heard:
        async with wired(plain=True) as wire:
            sized = (f"Content-Length: {len(body)}",) if body else ()
            return await wire.ask(wire.head(method, target, *sized, *lines) + body.encode())

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:1", 200),
        ("127.9.8.7", 200),
        ("[::1]:6443", 200),
        ("evil.example", 403),
        ("localhost.evil.example:80", 403),
        ("127.0.0.1.evil.example", 403),
        ("0.0.0.0", 403),
        ("192.168.1.1", 403),
        ("", 403),
        ("localhost@evil.example", 400),
    ],
)
def test_a_plain_server_answers_to_the_names_of_the_loopback_only(host: str, status: int) -> None:
    said = plainly(f"Host: {host}")

    assert said.status == status
    if status == 403:
        assert "leave out --plain" in json.loads(said.body)["message"]


def test_the_host_of_an_absolute_target_is_looked_at_too() -> None:
    assert plainly(target="http://evil.example/version").status == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:1", 200),
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:2", 403),
    ],
)
def test_a_plain_server_takes_nothing_from_pages_of_others(origin: str, status: int) -> None:
    assert plainly("Host: localhost:1", f"Origin: {origin}").status == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("", 415),
        ("text/plain", 415),
        ("Text/Plain;charset=utf-8", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json", 201),
    ],
)
def test_a_plain_server_takes_no_body_that_a_form_could_send(
    content_type: str, status: int
) -> None:
    lines = (f"Content-Type: {content_type}",) if content_type else ()
    body = json.dumps(config_map("c"))

    assert plainly(*lines, method="POST", target=CONFIG_MAPS, body=body).status == status


def test_with_tls_any_host_will_do() -> None:
    async def main() -> int:
        async with wired() as wire:
            return (await wire.ask(wire.head("GET", "/version", "Host: api.example"))).status

    assert asyncio.run(main()) == 200
