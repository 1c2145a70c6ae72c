"""The verbs: what goes over the wire, and what refusals become."""

import asyncio
import json
from typing import Any

import pytest
from support.live.scripted_server import ScriptedServer, make_list, make_object, refusal, reply
from support.live.virtual_loop import run_virtually

from podium.client import (
    DeleteOptions,
    KubeClient,
    PatchType,
    RequestFailed,
    Selection,
    Unreachable,
)
from podium.client.api_errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    ResourceVersionTooLarge,
    ServerTrouble,
    TooManyRequests,
    Unauthorized,
)
from podium.client.resources import JOBS, NODES, PODS
from podium.golang.errors import PodiumError


def ask(server: ScriptedServer, what: Any) -> Any:
    async def main() -> Any:
        return await what(KubeClient(server, field_manager="tests"))

    return run_virtually(main())


def test_reading_and_writing_name_the_object_in_the_path() -> None:
    server = ScriptedServer(*[reply({"ok": True})] * 6)

    async def calls(client: KubeClient) -> None:
        assert json.loads(await client.get(PODS, "web-0", "shop")) == {"ok": True}
        await client.create(NODES, {"metadata": {"name": "n1"}})
        await client.update(PODS, "web-0", {"a": 1}, "shop", subresource="status")
        await client.patch(PODS, "web-0", {"b": 2}, "shop", kind=PatchType.STRATEGIC)
        await client.patch(JOBS, "sum", {"c": 3}, "shop", kind=PatchType.APPLY, force=True)
        await client.create(PODS, {}, "shop", name="web-0", subresource="binding")

    ask(server, calls)
    seen = [(r.method, r.path, dict(r.query), r.content_type) for r in server.requests]
    signed = {"fieldManager": "tests"}
    plain = "application/json"
    pods = "/api/v1/namespaces/shop/pods/web-0"
    assert seen == [
        ("GET", pods, {}, plain),
        ("POST", "/api/v1/nodes", signed, plain),
        ("PUT", f"{pods}/status", signed, plain),
        ("PATCH", pods, signed, "application/strategic-merge-patch+json"),
        (
            "PATCH",
            "/apis/batch/v1/namespaces/shop/jobs/sum",
            {**signed, "force": "true"},
            "application/apply-patch+yaml",
        ),
        ("POST", f"{pods}/binding", signed, plain),
    ]
    assert json.loads(server.requests[1].body) == {"metadata": {"name": "n1"}}


def test_names_cannot_change_the_path() -> None:
    assert PODS.path("a/b", "../x") == "/api/v1/namespaces/a%2Fb/pods/..%2Fx"


def test_deletions_carry_their_conditions() -> None:
    server = ScriptedServer(reply({}), reply({}))

    async def calls(client: KubeClient) -> None:
        await client.delete(PODS, "web-0", "shop")
        options = DeleteOptions(grace_period_s=0, uid="u1", propagation="Background")
        await client.delete(PODS, "web-0", "shop", options)

    ask(server, calls)
    kind = {"kind": "DeleteOptions", "apiVersion": "v1"}
    assert json.loads(server.requests[0].body) == kind
    assert json.loads(server.requests[1].body) == {
        **kind,
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u1"},
        "propagationPolicy": "Background",
    }


def test_lists_are_fetched_in_pages_of_a_selection() -> None:
    server = ScriptedServer(
        make_list(5, make_object("a", 1), following="x y"), make_list(5, make_object("b", 2))
    )
    selection = Selection(namespace="shop", labels="app=web", fields="spec.nodeName=n1")
    page = ask(server, lambda client: client.list(PODS, selection, page=1))
    assert [json.loads(bytes(item))["metadata"]["name"] for item in page.items] == ["a", "b"]
    assert (page.resource_version, page.following) == ("5", "")
    chosen = {"labelSelector": "app=web", "fieldSelector": "spec.nodeName=n1", "limit": "1"}
    assert server.parameters(0) == chosen
    assert server.parameters(1) == {**chosen, "continue": "x y"}
    assert server.requests[1].query_string.endswith("continue=x%20y")


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", BadRequest),
        (401, "Unauthorized", Unauthorized),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", Gone),
        (410, "Gone", Gone),
        (418, "", ApiError),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", TooManyRequests),
        (500, "InternalError", ServerTrouble),
        (504, "Timeout", ServerTrouble),
    ],
)
def test_refusals_are_errors_by_their_reason(code: int, reason: str, kind: type[ApiError]) -> None:
    server = ScriptedServer(refusal(code, reason, "because"))
    with pytest.raises(kind, match="because") as caught:
        ask(server, lambda client: client.get(PODS, "a", "b"))
    assert type(caught.value) is kind
    assert caught.value.code == code


@pytest.mark.parametrize("answer", [refusal(503, "ServiceUnavailable"), Unreachable("reset")])
def test_a_refusal_and_silence_are_both_requests_that_failed(answer: Any) -> None:
    client = KubeClient(ScriptedServer(answer))
    with pytest.raises(RequestFailed) as caught:
        asyncio.run(client.get(PODS, "a", "default"))
    assert isinstance(caught.value, PodiumError)


def test_a_version_that_the_server_has_not_seen_has_an_error_of_its_own() -> None:
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    server = ScriptedServer(refusal(504, "Timeout", causes=causes))
    with pytest.raises(ResourceVersionTooLarge):
        ask(server, lambda client: client.list(PODS))


def test_an_answer_of_something_else_is_shown_in_short() -> None:
    server = ScriptedServer(reply(b"<html>Bad gateway" + b"!" * 1000, 502))
    with pytest.raises(ServerTrouble, match="HTTP status 502: <html>Bad gateway") as caught:
        ask(server, lambda client: client.get(PODS, "a", "b"))
    assert len(str(caught.value)) < 300


def test_a_server_that_asks_to_come_back_is_asked_again_after_that_time() -> None:
    busy = reply({}, 429, retry_after="3")
    server = ScriptedServer(busy, reply({}, 503, retry_after="2"), reply({"ok": True}))

    async def main() -> float:
        await KubeClient(server).get(PODS, "a", "b")
        return asyncio.get_running_loop().time()

    assert run_virtually(main()) == 5
    server = ScriptedServer(*[busy] * 11)
    with pytest.raises(TooManyRequests):
        ask(server, lambda client: client.get(PODS, "a", "b"))
    assert not server.answers


def test_a_refused_watch_is_an_error() -> None:
    server = ScriptedServer()
    server.watch_refusals = [refusal(410, "Expired")]

    async def open_watch(client: KubeClient) -> None:
        async with client.watch(PODS, Selection(), ()):
            raise AssertionError("opened")

    with pytest.raises(Gone):
        ask(server, open_watch)
