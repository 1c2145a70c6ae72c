"""Whatever is sent, the server answers: soon, in a form that its client can read, never a 500.

Every example starts from a server with an object of every kind and sends a few requests to it. A
few refusals have the status 500 upstream, without a reason and with a text of their own; these are
recorded and kept. What a bug would answer has the reason InternalError.

The examples are the same each time, a few in `make test` and many in `make test-all`;
`PODIUM_FUZZ_EXAMPLES=20000` looks for others, and for longer.
"""

import asyncio
import gzip
import os
import re
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from support.apiserver.api_calls import TOKEN
from support.apiserver.hostile_requests import FORMS, Hostile, creations, sequences
from support.apiserver.hostile_values import BOMB
from support.apiserver.populated_server import populated
from support.yardstick import interrupt_beyond

from podium.apiserver.http.app import Application
from podium.apiserver.http.messages import MAX_BODY_BYTES

MAX_YARDSTICKS = 300.0
EXAMPLES = os.environ.get("PODIUM_FUZZ_EXAMPLES")
many = settings(
    max_examples=int(EXAMPLES or 300),
    derandomize=EXAMPLES is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
few = settings(many, max_examples=40, derandomize=True)
UPSTREAM_500 = re.compile(
    r"strconv\.ParseUint: parsing"
    r"|resourceVersion should not be set on objects to be created"
    r"|resourceVersion: Invalid value"
    r"|failed to (create typed|decode managed fields)"
    r"|target\.(name: Required|kind: Unsupported) value"
    r"|This pod has more than one PodDisruptionBudget"
    r"|etcdserver: request is too large"
    # what is wrong with a strategic merge patch
    r"|does not contain declared merge key"
    r"|expected a \S+( \{\})?, but received a"
    r"|unknown patch type"
    r"|cannot merge lists without merge key for struct"
    r"|list element types are not identical"
    r"|merging lists cannot yet be specified in the patch"
    r"|The order in patch list"
    r"|unable to find api field in struct"
)
Answered = tuple[int, dict[bytes, bytes], bytes]


async def send(application: Application, request: Hostile) -> Answered:
    """The answer to a request whose client hangs up as soon as it has sent everything."""
    start: dict[str, Any] = {}
    parts: list[bytes] = []
    unread = [request.body[:70], request.body[70:]]

    async def receive() -> dict[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(0), "more_body": bool(unread)}
        return {"type": "http.disconnect"}

    async def answer(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert not start, "began twice"
            start.update(message)
        else:
            parts.append(message["body"])

    headers = {"authorization": f"Bearer {TOKEN}", **dict(request.headers)}
    scope = {
        "type": "http",
        "method": request.method,
        "raw_path": request.path.encode("utf-8", "surrogatepass"),
        "query_string": request.query.encode("utf-8", "surrogatepass"),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    with interrupt_beyond(MAX_YARDSTICKS):
        await application(scope, receive, answer)
    return start["status"], dict(start["headers"]), b"".join(parts)


def check(request: Hostile, status: int, headers: dict[bytes, bytes], body: bytes) -> None:
    """The answer is one that a client can make sense of."""
    assert 200 <= status < 600
    assert not any(b"\n" in value or b"\r" in value for value in headers.values())
    if request.method == "HEAD":
        assert body == b""
        return
    if b"content-length" in headers:
        assert int(headers[b"content-length"]) == len(body)
    if headers.get(b"content-encoding") == b"gzip":
        body = gzip.decompress(body)
    if status == 204:
        return
    match headers[b"content-type"].decode().partition(";")[0]:
        case "application/json" if b"content-length" not in headers and is_stream(body):
            for line in body.splitlines():
                assert msgspec.json.decode(line).keys() == {"type", "object"}
        case "application/json":
            check_json(status, msgspec.json.decode(body))
        case "application/yaml":
            check_json(status, yaml.load(body, yaml.CSafeLoader))
        case "application/vnd.kubernetes.protobuf":
            assert body.startswith(b"k8s\x00")
        case "text/plain":
            assert body.decode()
        case other:
            assert other == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert status != 500 or UPSTREAM_500.search(body.decode("utf-8", "replace"))


def is_stream(body: bytes) -> bool:
    """Whether this is what a watch has sent: nothing yet, or events."""
    return not body or body.startswith(b'{"type":')


def check_json(status: int, value: Any) -> None:
    assert isinstance(value, dict)
    if status >= 400:
        assert value["kind"] == "Status"
        assert value["code"] == status
        assert value["message"]
        assert value.get("reason") != "InternalError"


def exchange(requests: Sequence[Hostile]) -> None:
    """Send requests to a new server, one after the other, and check every answer."""

    async def run() -> None:
        application = Application(populated().service, Random(1))
        for request in requests:
            check(request, *await send(application, request))

    asyncio.run(run())


@few
@given(sequences(8))
def test_every_request_is_answered(requests: Sequence[Hostile]) -> None:
    exchange(requests)


@pytest.mark.slow
@many
@given(sequences(8))
def test_every_one_of_many_requests_is_answered(requests: Sequence[Hostile]) -> None:
    exchange(requests)


def create_and_read(creation: Hostile) -> None:
    """Create an object, write its status, and read it in every form after each."""
    one = f"{creation.path}/b"
    written = replace(creation, method="PUT", path=f"{one}/status")
    shown = [
        Hostile("GET", path, "", (("accept", form),), b"")
        for path in (creation.path, one)
        for form in FORMS
    ]
    exchange((creation, *shown, written, *shown))


@few
@given(creations())
def test_whatever_was_taken_can_be_shown_in_every_form(creation: Hostile) -> None:
    create_and_read(creation)


@pytest.mark.slow
@many
@given(creations())
def test_whatever_many_creations_left_can_be_shown_in_every_form(creation: Hostile) -> None:
    create_and_read(creation)


PODS = "/api/v1/namespaces/ns/pods"
OPENING = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big"},"spec":'
FULL = MAX_BODY_BYTES - 200


def posted(body: bytes) -> int:
    """The status that a pod of these bytes is answered with."""
    assert len(body) <= MAX_BODY_BYTES
    headers = (("content-type", "application/json"),)
    request = Hostile("POST", PODS, "fieldValidation=Strict", headers, body)
    application = Application(populated().service, Random(1))
    return asyncio.run(send(application, request))[0]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * FULL,
        b'{"a":' * (FULL // 5),
        OPENING + b'{"priority":' + b"9" * FULL + b"}}",
        OPENING + b'"' + b"\\ud800" * (FULL // 6) + b'"}',
        OPENING + b'"' + b"\xff" * FULL + b'"}',
        OPENING + b'{"schedulerName":"' + b"a." * (FULL // 2) + b'"}}',
        OPENING + b'{"containers":[' + b"{}," * 30_000 + b"{}]}}",
    ],
    ids=["lists", "objects", "digits", "halves", "bytes", "text", "mistakes"],
)
def test_the_largest_bodies_are_refused_in_time(body: bytes) -> None:
    assert posted(body) in (400, 422)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(OPENING + b'{"containers":[' + b"{}," * (FULL // 3) + b"{}]}}", id="objects"),
        pytest.param(
            OPENING + b'{"tolerations":[' + b"[]," * (FULL // 3) + b"[]]}}",
            id="lists",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            OPENING + b'{"nodeSelector":{' + b'"a":"",' * (FULL // 7) + b'"a":""}}}',
            id="repeated",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_largest_bodies_cost_bounded_memory(body: bytes) -> None:
    """A body of 3 MiB may be made of a million values; 400 MiB is a hundred times its size."""
    tracemalloc.start()
    try:
        status = posted(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert status in (400, 422)
    assert peak < 400 << 20


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
def test_bodies_beyond_the_bound_are_not_read(method: str) -> None:
    headers = (("content-type", "application/json"),)
    request = Hostile(method, f"{PODS}/a", "", headers, b" " * (MAX_BODY_BYTES + 1))

    status, _, body = asyncio.run(send(Application(populated().service, Random(1)), request))

    assert status == 413
    assert b"Request entity too large: limit is 3145728" in body


def test_yaml_that_would_fill_the_memory_is_refused() -> None:
    headers = (("content-type", "application/yaml"),)
    request = Hostile("POST", PODS, "", headers, BOMB)

    status, _, _ = asyncio.run(send(Application(populated().service, Random(1)), request))

    assert status == 400
