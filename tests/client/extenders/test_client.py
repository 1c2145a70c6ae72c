"""Calls on the wire: what is sent, and how answers are taken."""

import asyncio
import base64
import gzip
from typing import Any

import pytest
from support.addons.extenders.extender_servers import (
    Request,
    Server,
    answering,
    ask,
    bind_call,
    filter_call,
    make_client,
    make_extender,
    preempt_call,
    prioritize_call,
    reply,
    serving,
)

from podium.client.extenders.messages import ReturnedNode
from podium.kubernetes.kinds.node import Node
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import (
    BindAnswer,
    CallFailed,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    PrioritizeAnswer,
)
from podium.testing import make_node, make_pod

GOOD = b'{"NodeNames": ["n1"]}'


def exchange(
    make_call: Any, body: bytes = GOOD, *, prefix: str = "", nodes: Any = None, **fields: Any
) -> tuple[ExtenderAnswer, Request, Server]:
    """One call to an extender that answers with `body`."""

    async def story() -> tuple[ExtenderAnswer, Request, Server]:
        async with serving(answering(body)) as server:
            call = make_call(make_extender(server.url + prefix, **fields))
            (answer,) = await ask(call, nodes=nodes)
            return answer, server.requests[0], server

    return asyncio.run(story())


# requests


def test_a_request_is_a_post_with_the_headers_of_a_go_client() -> None:
    _, request, server = exchange(filter_call)
    assert (request.method, request.path) == ("POST", "/filter")
    assert dict(request.headers) == {
        "host": server.url.removeprefix("http://"),
        "user-agent": "go-http-client/1.1",
        "content-type": "application/json",
        "content-length": str(len(request.body)),
        "accept-encoding": "gzip",
    }


@pytest.mark.parametrize(
    ("prefix", "verb", "path"),
    [
        ("", "filter", "/filter"),
        ("/e1//", "filter", "/e1/filter"),
        ("/e1", "v1/filter?strict=1", "/e1/v1/filter?strict=1"),
        ("/a%2Fb/../c", "f", "/a%2Fb/../c/f"),
        ("/a b", "f", "/a%20b/f"),
    ],
)
def test_the_verb_follows_the_prefix(prefix: str, verb: str, path: str) -> None:
    _, request, _ = exchange(filter_call, prefix=prefix, filter_verb=verb)
    assert request.path == path


def test_names_only_requests_have_no_objects() -> None:
    _, request, _ = exchange(filter_call, node_cache_capable=True)
    assert list(request.decoded()) == ["Pod", "Nodes", "NodeNames"]
    assert request.decoded()["Nodes"] is None
    assert request.decoded()["NodeNames"] == ["n1", "n2", "n3"]
    assert b": " not in request.body, "the body is compact"


def test_full_requests_have_a_list_of_objects_in_order() -> None:
    nodes = [make_node(name, labels={"zone": name}) for name in ("n1", "n2", "n3")]
    _, request, _ = exchange(filter_call, nodes=nodes, node_cache_capable=False)
    body = request.decoded()
    assert body["NodeNames"] is None
    assert body["Nodes"]["metadata"] == {}
    assert [n["metadata"]["name"] for n in body["Nodes"]["items"]] == ["n1", "n2", "n3"]
    assert body["Nodes"]["items"][0]["metadata"]["labels"] == {"zone": "n1"}
    assert "kind" not in body["Nodes"]["items"][0]


def test_the_pod_is_sent_without_its_kind() -> None:
    pod = make_pod("web-0", requests={"cpu": "250m"})
    _, request, _ = exchange(lambda extender: filter_call(extender, pod))
    sent = request.decoded()["Pod"]
    assert sorted(sent) == ["metadata", "spec", "status"]
    assert sent["metadata"]["uid"] == "uid-default-web-0"
    assert sent["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "250m"}}


def test_prioritizing_sends_what_filtering_sends() -> None:
    answer, request, _ = exchange(prioritize_call, b'[{"Host": "n2", "Score": -4}]')
    assert request.path == "/prioritize"
    assert request.decoded()["NodeNames"] == ["n1", "n2", "n3"]
    assert answer == PrioritizeAnswer((("n2", -4),))


def test_victims_are_sent_as_uids_to_extenders_with_a_cache() -> None:
    _, request, _ = exchange(preempt_call, b"{}", node_cache_capable=True)
    body = request.decoded()
    assert list(body) == ["Pod", "NodeNameToVictims", "NodeNameToMetaVictims"]
    assert body["NodeNameToVictims"] is None
    victims = {"Pods": [{"UID": "uid-default-low-0"}], "NumPDBViolations": 1}
    assert body["NodeNameToMetaVictims"] == {"n1": victims}


def test_victims_are_sent_whole_to_others() -> None:
    _, request, _ = exchange(preempt_call, b"{}", node_cache_capable=False)
    body = request.decoded()
    assert body["NodeNameToMetaVictims"] is None
    sent = body["NodeNameToVictims"]["n1"]
    assert sent["NumPDBViolations"] == 1
    assert [pod["metadata"]["name"] for pod in sent["Pods"]] == ["low-0"]


def test_a_binding_names_pod_and_node() -> None:
    answer, request, _ = exchange(bind_call, b'{"Error": ""}')
    assert request.body == (
        b'{"PodName":"web-0","PodNamespace":"default","PodUID":"uid-default-web-0","Node":"n1"}'
    )
    assert answer == BindAnswer()


def test_a_node_that_came_back_in_full_is_passed_on_as_it_came() -> None:
    written = b'{"metadata":{"name":"n1"},"status":{"nodeInfo":{"osImage":"x"}}}'
    first, _, _ = exchange(filter_call, b'{"Nodes":{"items":[' + written + b"]}}")
    assert isinstance(first, FilterAnswer)
    assert first.nodes is not None
    returned = {"n1": first.nodes[0], "n2": Node(metadata=make_node("n2").metadata)}

    def second(extender: Extender) -> FilterCall:
        return filter_call(extender, nodes=("n1", "n2"), returned=returned)

    _, request, _ = exchange(second, node_cache_capable=False)
    assert written in request.body
    assert [n["metadata"]["name"] for n in request.decoded()["Nodes"]["items"]] == ["n1", "n2"]
    assert isinstance(first.nodes[0], ReturnedNode)


def test_a_node_that_is_gone_fails_the_call_alone() -> None:
    async def story() -> None:
        async with serving(answering(GOOD)) as server:
            whole, names = (
                make_extender(server.url + path, node_cache_capable=cached)
                for path, cached in (("/a", False), ("/b", True))
            )
            failed, answered = await ask(
                filter_call(whole, nodes=("n1", "n7")), filter_call(names, nodes=("n1", "n7"))
            )
            assert failed == CallFailed(
                f'failed filter with extender at URL {server.url}/a/filter: node "n7" not found'
            )
            assert answered == FilterAnswer(node_names=("n1",))

    asyncio.run(story())


# answers


def test_a_gzip_answer_is_unpacked() -> None:
    packed = gzip.compress(b'{"NodeNames": ') + gzip.compress(b'["n1"]}')

    async def story() -> None:
        async with serving(answering(packed, headers=["Content-Encoding: gzip"])) as server:
            (answer,) = await ask(filter_call(make_extender(server.url)))
            assert answer == FilterAnswer(node_names=("n1",))

    asyncio.run(story())


@pytest.mark.parametrize(("code", "method"), [(301, "GET"), (302, "GET"), (303, "GET")])
def test_old_redirects_turn_the_call_into_a_get(code: int, method: str) -> None:
    followed = redirected(code)
    assert (followed.method, followed.path, followed.body) == (method, "/elsewhere?x=1", b"")


@pytest.mark.parametrize("code", [307, 308])
def test_new_redirects_keep_the_call(code: int) -> None:
    followed = redirected(code)
    assert (followed.method, followed.path) == ("POST", "/elsewhere?x=1")
    assert followed.decoded()["NodeNames"] == ["n1", "n2", "n3"]


def redirected(code: int) -> Request:
    async def story() -> Request:
        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            if request.path == "/filter":
                reply(writer, b"", f"{code} Go on", ["Location: elsewhere?x=1"])
            else:
                reply(writer, GOOD)

        async with serving(answer) as server:
            (answered,) = await ask(filter_call(make_extender(server.url)))
            assert answered == FilterAnswer(node_names=("n1",))
            return server.requests[1]

    return asyncio.run(story())


def test_connections_are_used_again() -> None:
    async def story() -> None:
        async with serving(answering(GOOD)) as server:
            extender = make_extender(server.url)
            client = make_client(extender)
            for _ in range(5):
                await client.ask((filter_call(extender),))
            await client.close()
            assert (server.connections, len(server.requests)) == (1, 5)

    asyncio.run(story())


def test_calls_of_a_batch_run_side_by_side() -> None:
    async def story() -> None:
        met = asyncio.Barrier(3)

        async def answer(_: Request, writer: asyncio.StreamWriter) -> None:
            await met.wait()
            reply(writer, b"[]")

        async with serving(answer) as server:
            extenders = [make_extender(f"{server.url}/{number}") for number in range(3)]
            calls: tuple[ExtenderCall, ...] = tuple(map(prioritize_call, extenders))
            assert await ask(*calls) == (PrioritizeAnswer(()),) * 3

    asyncio.run(story())


def test_a_negative_timeout_is_no_limit() -> None:
    answer, _, _ = exchange(filter_call, timeout="-1ns")
    assert answer == FilterAnswer(node_names=("n1",))


def test_large_requests_are_sent_whole() -> None:
    names = tuple(f"{number:050}" for number in range(20_000))
    _, request, _ = exchange(lambda extender: filter_call(extender, nodes=names))
    assert request.decoded()["NodeNames"] == list(names)
    assert request.headers["content-length"] == str(len(request.body))


# the way there


def test_credentials_in_the_address_are_sent_and_not_shown() -> None:
    async def story() -> None:
        async with serving(answering(b"", "401 Unauthorized")) as server:
            url = server.url.replace("http://", "http://scheduler:se%20cret@")
            (answer,) = await ask(filter_call(make_extender(url)))
            expected = base64.b64encode(b"scheduler:se cret").decode().lower()
            assert server.requests[0].headers["authorization"] == f"basic {expected}"
            assert isinstance(answer, CallFailed)
            assert "scheduler:***@127.0.0.1" in answer.problem
            assert "cret" not in answer.problem

    asyncio.run(story())


def test_a_proxy_of_the_environment_is_used() -> None:
    async def story() -> None:
        async with serving(answering(GOOD)) as proxy:
            extender = make_extender("http://extender.example:8080/e")
            environment = {"HTTP_PROXY": proxy.url, "NO_PROXY": "elsewhere.example"}
            client = make_client(extender, environment=environment)
            (answer,) = await client.ask((filter_call(extender),))
            await client.close()
            assert answer == FilterAnswer(node_names=("n1",))
            assert proxy.requests[0].path == "http://extender.example:8080/e/filter"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", 'Post "/filter": unsupported protocol scheme ""'),
        ("localhost:8888", 'Post "localhost:8888/filter": unsupported protocol scheme "localhost"'),
        ("127.0.0.1:8888", 'parse "127.0.0.1:8888/filter": first path segment in URL cannot '
         "contain colon"),
        ("http://", 'Post "http:/filter": http: no Host in request URL'),
        ("http://[::1", 'parse "http://[::1/filter": missing \']\' in host'),
        ("http://h:port", 'parse "http://h:port/filter": invalid port ":port" after host'),
        ("http://h/%zz", 'parse "http://h/%zz/filter": invalid URL escape "%zz"'),
        ("http://h\n", 'parse "http://h\\n/filter": net/url: invalid control character in URL'),
        ("ftp://h", 'Post "ftp://h/filter": unsupported protocol scheme "ftp"'),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_called_is_told(url: str, problem: str) -> None:
    (answer,) = asyncio.run(ask(filter_call(make_extender(url))))
    assert answer == CallFailed(problem)
