"""Asking for measurements over HTTP: bounded, verified, straight to whom was meant."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.addons.extenders.extender_servers import (
    Request,
    Server,
    answering,
    never,
    reply,
    serving,
)
from support.waiting import PATIENCE_S

from podium.addons.collection import measurement_endpoint
from podium.addons.collection.load.load_source import ask_load_watcher, ask_prometheus
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements
from podium.addons.collection.prometheus.source import NODE_LABELS, UNAME, PrometheusSource
from podium.client.transport import Unreachable

Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
QUERY = 'rate(bytes{device="eth0"}[3m0s])'


def vector(*series: tuple[Mapping[str, str], float]) -> bytes:
    result = [{"metric": labels, "value": [1.0, str(value)]} for labels, value in series]
    data = {"resultType": "vector", "result": result}
    return json.dumps({"status": "success", "data": data}).encode()


GOOD = vector(({"node": "a"}, 3.0))


def source(address: str, timeout_s: float = 5.0, **more: Any) -> PrometheusSource:
    endpoint = Endpoint(address=address, **more)
    times: dict[str, Any] = {"refresh_every_s": 30.0, "max_age_s": 60.0, "timeout_s": timeout_s}
    return PrometheusSource("Test", endpoint, QUERY, NODE_LABELS, **times)


def fetched(
    answer: Answer, tls: ssl.SSLContext | None = None, **more: Any
) -> tuple[Mapping[str, float], Server]:
    async def main() -> tuple[Mapping[str, float], Server]:
        async with serving(answer, tls) as server:
            return await source(server.url, **more).fetch(), server

    return asyncio.run(main())


def test_one_query_is_sent_as_it_stands() -> None:
    values, server = fetched(answering(GOOD))
    assert values == {"a": 3.0}
    (request,) = server.requests
    assert request.method == "GET"
    assert request.path == (
        "/api/v1/query?query=rate%28bytes%7Bdevice%3D%22eth0%22%7D%5B3m0s%5D%29"
    )
    assert "authorization" not in request.headers


def test_a_token_goes_along_and_is_read_again_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        _, server = fetched(answering(GOOD), token_file=str(file))
        assert server.requests[0].headers["authorization"] == f"bearer {token}"


def test_a_redirect_is_not_followed() -> None:
    moved = answering(b"", "302 Found", ["Location: http://127.0.0.1:1/elsewhere"])
    with pytest.raises(NoMeasurements, match="302"):
        fetched(moved)


def test_no_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert fetched(answering(GOOD))[0] == {"a": 3.0}


def test_a_slow_answer_is_given_up() -> None:
    with pytest.raises(Unreachable, match="no answer to GET /api/v1/query within"):
        fetched(never, timeout_s=0.05)


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement_endpoint, "MAX_ANSWER_BYTES", 1000)
    with pytest.raises(Unreachable, match="longer than 1000 B"):
        fetched(answering(vector(({"node": "x" * 2000}, 1.0))))


def test_a_certificate_must_be_that_of_the_authority(tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    known, other = tmp_path / "ca.crt", tmp_path / "other.crt"
    known.write_bytes(authority.cert_pem.bytes())
    other.write_bytes(trustme.CA().cert_pem.bytes())
    assert fetched(answering(GOOD), tls, certificate_authority=str(known))[0] == {"a": 3.0}
    assert fetched(answering(GOOD), tls, insecure_skip_verify=True)[0] == {"a": 3.0}
    for wrong in ({}, {"certificate_authority": str(other)}):
        with pytest.raises(Unreachable, match="certificate"):
            fetched(answering(GOOD), tls, **wrong)


def test_addresses_become_names_by_a_second_question() -> None:
    uname = vector(({"instance": "10.0.0.1:9100", "nodename": "a"}, 1.0))

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        traffic = vector(({"instance": "10.0.0.1:9100"}, 8.0))
        reply(writer, uname if UNAME in request.path else traffic)

    values, server = fetched(answer)
    assert values == {"a": 8.0}
    assert len(server.requests) == 2


def test_an_odd_answer_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    twice = vector(({"node": "a"}, 1.0), ({"node": "a"}, 2.0), ({"node": "b"}, 3.0))

    async def main() -> None:
        async with serving(answering(twice)) as server:
            for _ in range(3):
                assert await source(server.url).fetch() == {"b": 3.0}

    asyncio.run(main())
    (line,) = caplog.messages
    assert line.endswith("several series are about a: aggregate them in the query")


def test_a_file_stands_for_a_recorded_answer(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_bytes(GOOD)
    for address in (f"file:{file}", f"file://{file}"):
        assert asyncio.run(source(address).fetch()) == {"a": 3.0}
    with pytest.raises(NoMeasurements, match="cannot be read: no such file"):
        asyncio.run(source(f"file:{tmp_path}/nothing.json").fetch())


def test_a_load_watcher_is_asked_for_all_nodes() -> None:
    async def main() -> list[str]:
        body = b'{"window": {"end": 7}, "data": {"NodeMetricsMap": {}}}'
        async with serving(answering(body)) as server:
            loads = await ask_load_watcher(Endpoint(address=server.url), timeout_s=PATIENCE_S)
            assert loads.window_end == 7
            return [request.path for request in server.requests]

    assert asyncio.run(main()) == ["/watcher"]


def test_a_load_watcher_that_fails_is_quoted() -> None:
    async def main() -> None:
        async with serving(answering(b"no metrics yet\n", "500 No")) as server:
            await ask_load_watcher(Endpoint(address=server.url), timeout_s=PATIENCE_S)

    with pytest.raises(NoMeasurements, match="/watcher answered 500: no metrics yet"):
        asyncio.run(main())


def test_prometheus_is_asked_four_questions_about_loads() -> None:
    async def main() -> list[str]:
        async with serving(answering(vector(({"node": "a"}, 0.5)))) as server:
            endpoint = Endpoint(address=server.url)
            loads = await ask_prometheus(
                endpoint, ("cpu", "mem"), NODE_LABELS, timeout_s=PATIENCE_S
            )
            assert loads.nodes["a"] == (50.0, 50.0, 50.0, 50.0)
            return sorted(request.path.partition("=")[2] for request in server.requests)

    assert asyncio.run(main()) == [
        f"{function}_over_time%28{metric}%5B15m%5D%29"
        for function in ("avg", "stddev")
        for metric in ("cpu", "mem")
    ]
