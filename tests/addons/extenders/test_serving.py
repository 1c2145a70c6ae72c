"""An extender on a real socket: what it takes, and what it tells whom."""

import asyncio
import json
from typing import Any

import pytest
from support.net.serving.raw_http import Heard, served
from support.waiting import PATIENCE_S

from podium.addons.extenders import Extender, Nodes
from podium.addons.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService
from podium.addons.extenders.serving import Listening
from podium.kubernetes.kinds.pod import Pod
from podium.net.serving import Limits

ASKED = {"Pod": {"metadata": {"name": "p"}, "spec": {"containers": []}}, "NodeNames": ["n1"]}


class Indiscreet(Extender):
    def filter(self, pod: Pod, nodes: Nodes) -> Any:
        raise RuntimeError("password=hunter2")

    def prioritize(self, pod: Pod, nodes: Nodes) -> Any:
        raise RuntimeError("password=hunter2")


def heard(data: bytes, limits: Limits | None = None) -> Heard:
    async def main() -> Heard:
        async with served(ExtenderService(Indiscreet()), limits) as server:
            return await asyncio.wait_for(server.ask(data), PATIENCE_S)

    return asyncio.run(main())


def post(path: str, content: bytes, length: int | None = None) -> bytes:
    size = len(content) if length is None else length
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode() + content


@pytest.mark.parametrize(("verb", "status"), [("filter", 200), ("prioritize", 500)])
def test_the_words_of_an_exception_stay_in_the_log(
    verb: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    said = heard(post(f"/{verb}", json.dumps(ASKED).encode()))

    assert said.status == status
    assert f"Indiscreet.{verb} failed: the extender's log says why" in said.body.decode()
    assert b"hunter2" not in said.body
    assert "hunter2" in caplog.text


def test_requests_are_bounded_before_they_are_read() -> None:
    said = heard(post("/filter", b"", DEFAULT_BODY_LIMIT + 1))

    assert (said.status, said.body) == (413, b"the request is larger than 16 MiB\n")


def test_the_limits_of_every_listener_are_its_limits_too() -> None:
    data = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 3000 + b"\r\n\r\n"

    assert heard(data).status == 200
    assert heard(data, Limits(max_head_bytes=2000)).status == 431


@pytest.mark.parametrize(
    ("host", "is_open"),
    [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True), ("::", True)],
)
def test_an_address_that_others_reach_is_open_to_all_without_tls(
    host: str, *, is_open: bool
) -> None:
    assert Listening(host=host).is_open_to_all is is_open
