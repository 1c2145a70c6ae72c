"""Webhooks that are down, slow, strange or hostile: requests end, and say why."""

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, config_map
from support.apiserver.hooked_api import HookedApi, hook
from support.apiserver.webhook_server import (
    Json,
    Raw,
    WebhookServer,
    allow,
    patching,
    webhook_server,
)
from support.waiting import PATIENCE_S, wait_in_loop

from podium.apiserver.http.webhook_caller import MAX_ANSWER_BYTES

FAILED = 'Internal error occurred: failed calling webhook "a.hook.example": '


@pytest.fixture(scope="module")
def listening() -> Iterator[WebhookServer]:
    with webhook_server() as server:
        yield server


@pytest.fixture
def hooks(listening: WebhookServer) -> WebhookServer:
    listening.seen.clear()
    return listening


@pytest.fixture
def api() -> HookedApi:
    return HookedApi()


def review(request: Json, **response: Any) -> Raw:
    said = {"uid": request["uid"], "allowed": True, **response}
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": said}
    return Raw(200, json.dumps(whole).encode(), {"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Raw(200, b'{"a"'), "failed to call webhook: couldn't get version/kind; json parse error:"),
        (Raw(200, b""), "failed to call webhook: 0-length response with status code: 200"),
        (Raw(200, b"{}"), "received invalid webhook response: webhook response was absent"),
        (
            Raw(500, b"boom", {"Content-Type": "text/plain"}),
            'failed to call webhook: an error on the server ("boom") has prevented the request from'
            " succeeding",
        ),
        (
            Raw(404, b"?"),
            "failed to call webhook: the server could not find the requested resource",
        ),
        (
            Raw(307, b"", {"Location": "https://127.0.0.1:1/elsewhere"}),
            "failed to call webhook: the server responded with the status code 307 but did not"
            " return more information",
        ),
        (
            Raw(200, b" " * (MAX_ANSWER_BYTES + 1)),
            f"failed to call webhook: the answer is longer than {MAX_ANSWER_BYTES} bytes",
        ),
        (
            Raw(200, b"[" * 100_000),
            "failed to call webhook: couldn't get version/kind; json parse error:",
        ),
    ],
)
def test_an_answer_that_is_none_fails_the_write(
    api: HookedApi, hooks: WebhookServer, answer: Raw, told: str
) -> None:
    api.validated_by(hook(hooks.at("/v", lambda _: answer)))

    refused = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert (refused.status, refused.body["reason"]) == (500, "InternalError")
    assert refused.message.startswith(FAILED + told)
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ({"uid": "another"}, "received invalid webhook response: expected response.uid="),
        (
            {"allowed": "yes"},
            "failed to call webhook: json: cannot unmarshal string into Go struct field"
            " AdmissionResponse.response.allowed of type bool",
        ),
        (
            {"patch": base64.b64encode(b"[]").decode()},
            "received invalid webhook response: webhook returned response.patch but not"
            " response.patchType",
        ),
        (
            {"patch": base64.b64encode(b"nonsense").decode(), "patchType": "JSONPatch"},
            "received undecodable patch in webhook response: invalid character 'o' in literal null",
        ),
        (
            {"patch": base64.b64encode(b"[1]").decode(), "patchType": "JSONPatch"},
            "received undecodable patch in webhook response: json: cannot unmarshal number",
        ),
    ],
)
def test_a_review_that_is_wrong_fails_the_write(
    api: HookedApi, hooks: WebhookServer, response: Json, told: str
) -> None:
    api.mutated_by(hook(hooks.at("/m", lambda request: review(request, **response))))

    refused = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert refused.status == 500
    assert refused.message.startswith(FAILED + told)


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (
            {"op": "add", "path": "/no/such", "value": 1},
            'add operation does not apply: doc is missing path: "/no/such": missing value',
        ),
        (
            {"op": "remove", "path": "/data/b"},
            "error in remove for path: '/data/b': Unable to remove nonexistent key: b: missing"
            " value",
        ),
        (
            {"op": "test", "path": "/data/a", "value": "2"},
            "testing value /data/a failed: test failed",
        ),
        (
            {"op": "add", "path": "/data/b", "value": 2},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
    ],
)
def test_a_patch_that_does_not_apply_fails_the_write_in_any_case(
    api: HookedApi, hooks: WebhookServer, operation: Json, told: str
) -> None:
    api.mutated_by(hook(hooks.at("/m", patching(operation)), failurePolicy="Ignore"))

    refused = api.ask("POST", CONFIG_MAPS, config_map("x", a="1"))

    assert (refused.status, refused.message) == (500, f"Internal error occurred: {told}")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"url": "https://127.0.0.1:1/x"},
            'failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp'
            " 127.0.0.1:1: connect: connection refused",
        ),
        ({"caBundle": None}, "failed to call webhook: Post "),
        (
            {"caBundle": base64.b64encode(b"nonsense").decode()},
            "could not get REST client: unable to load root certificates: unable to parse bytes as"
            " PEM block",
        ),
    ],
)
def test_a_webhook_that_cannot_be_reached_or_trusted_fails_the_write(
    api: HookedApi, hooks: WebhookServer, change: Json, told: str
) -> None:
    client = {**hooks.at("/v"), **change}
    api.validated_by(hook(client))

    refused = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert refused.status == 500
    assert refused.message.startswith(FAILED + told)
    assert hooks.seen == []


def test_the_certificate_of_somebody_else_is_not_trusted(api: HookedApi) -> None:
    with webhook_server("other.example") as named, webhook_server() as unknown:
        api.validated_by(hook(named.at("/v")))
        wrong_name = api.ask("POST", CONFIG_MAPS, config_map("x")).message
        api.delete("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v")
        api.validated_by(hook({**unknown.at("/v"), "caBundle": named.ca_bundle}))
        wrong_authority = api.ask("POST", CONFIG_MAPS, config_map("x")).message

    assert "tls: failed to verify certificate: x509: " in wrong_name
    assert wrong_authority.endswith(
        "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    )
    assert named.seen == unknown.seen == []


@pytest.mark.parametrize("kind", ["mutated_by", "validated_by"])
def test_a_failure_can_be_ignored(api: HookedApi, kind: str) -> None:
    getattr(api, kind)(hook({"url": "https://127.0.0.1:1/x"}, failurePolicy="Ignore"))

    assert api.ask("POST", CONFIG_MAPS, config_map("x")).status == 201


@pytest.fixture
def go_on() -> Iterator[threading.Event]:
    """What a slow webhook waits for; set in the end, so that its thread ends too."""
    made = threading.Event()
    yield made
    made.set()


def test_nobody_else_waits_for_a_slow_webhook(
    api: HookedApi, hooks: WebhookServer, go_on: threading.Event
) -> None:
    def wait(_: Json) -> Json:
        go_on.wait(PATIENCE_S)
        return {"allowed": True}

    api.validated_by(hook(hooks.at("/v", wait), timeoutSeconds=30))

    async def meanwhile() -> tuple[Any, Any]:
        slow = asyncio.ensure_future(api.asked("POST", CONFIG_MAPS, config_map("x")))
        await wait_in_loop(lambda: hooks.seen)
        other = await api.asked("GET", CONFIG_MAPS)
        assert not slow.done()
        go_on.set()
        return other, await slow

    other, slow = api.run(meanwhile())

    assert (other.status, slow.status) == (200, 201)


def test_a_slow_webhook_is_left(
    api: HookedApi, hooks: WebhookServer, go_on: threading.Event
) -> None:
    def wait(_: Json) -> Json:
        go_on.wait(PATIENCE_S)
        return {"allowed": True}

    api.validated_by(hook(hooks.at("/v", wait), timeoutSeconds=1))

    async def leave() -> Any:
        answer = await api.asked("POST", CONFIG_MAPS, config_map("x"))
        go_on.set()
        # The goodbye of TLS takes a round trip, for which the webhook has to wake up.
        loop: Any = asyncio.get_running_loop()
        await wait_in_loop(lambda: all(each._sock is None for each in loop._transports.values()))
        return answer

    slow = api.run(leave())

    url = f"https://127.0.0.1:{hooks.port}/v?timeout=1s"
    assert slow.message == (
        f'{FAILED}failed to call webhook: Post "{url}": context deadline exceeded'
    )


class Gate:
    """A webhook that lets a test act while it is being asked, the first time."""

    def __init__(self, *operations: Json) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self._answer = patching(*operations) if operations else allow

    def __call__(self, request: Json) -> Json | Raw:
        if not self.asked.is_set():
            self.asked.set()
            self.go_on.wait(PATIENCE_S)
        return self._answer(request)


async def acting_meanwhile(api: HookedApi, gate: Gate, write: Any, act: Any) -> Any:
    writing = asyncio.ensure_future(write)
    await wait_in_loop(gate.asked.is_set)
    act()
    gate.go_on.set()
    return await writing


def write_past_webhooks(api: HookedApi, name: str, **data: str) -> None:
    """As another client would that no webhook speaks of."""
    maps = api.registry.table.get_required("configmaps")
    before = api.registry.get(maps, "default", name)
    obj = {**api.registry.read(maps, before), "data": data}
    api.registry.replace(maps, before, obj, dry_run=False)


def test_an_update_of_what_was_changed_meanwhile_is_a_conflict(
    api: HookedApi, hooks: WebhookServer
) -> None:
    made = api.create(CONFIG_MAPS, config_map("x", a="1"))
    gate = Gate()
    api.validated_by(hook(hooks.at("/v", gate)))

    put = api.asked("PUT", f"{CONFIG_MAPS}/x", {**made, "data": {"a": "2"}})
    change = lambda: write_past_webhooks(api, "x", a="other")  # noqa: E731
    answer = api.run(acting_meanwhile(api, gate, put, change))

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert api.get(f"{CONFIG_MAPS}/x")["data"] == {"a": "other"}


def test_a_patch_of_what_was_changed_meanwhile_is_applied_and_asked_about_anew(
    api: HookedApi, hooks: WebhookServer
) -> None:
    api.create(CONFIG_MAPS, config_map("x", a="1"))
    gate = Gate()
    api.validated_by(hook(hooks.at("/v", gate)))

    patch = api.asked("PATCH", f"{CONFIG_MAPS}/x", {"data": {"b": "2"}}, content_type=MERGE)
    change = lambda: write_past_webhooks(api, "x", a="other")  # noqa: E731
    answer = api.run(acting_meanwhile(api, gate, patch, change))

    assert answer.status == 200
    assert api.get(f"{CONFIG_MAPS}/x")["data"] == {"a": "other", "b": "2"}
    seen = [each["object"]["data"] for each in hooks.requests("/v")]
    assert seen == [{"a": "1", "b": "2"}, {"a": "other", "b": "2"}]


def test_what_was_created_meanwhile_exists(api: HookedApi, hooks: WebhookServer) -> None:
    gate = Gate({"op": "add", "path": "/data/late", "value": "1"})
    api.mutated_by(hook(hooks.at("/m", gate)))

    def create() -> None:
        maps = api.registry.table.get_required("configmaps")
        made = {**config_map("x"), "metadata": {"name": "x", "namespace": "default", "uid": "u"}}
        api.registry.create(maps, "default", "x", made, dry_run=False)

    post = api.asked("POST", CONFIG_MAPS, config_map("x", a="1"))
    answer = api.run(acting_meanwhile(api, gate, post, create))

    assert (answer.status, answer.body["reason"]) == (409, "AlreadyExists")
