"""An extender behind HTTP, called in this process."""

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.waiting import PATIENCE_S

from podium.addons.extenders import Extender, ExtenderError, Nodes, Unresolvable, Victims
from podium.addons.extenders.service import ExtenderService
from podium.kubernetes.kinds.pod import Pod

POD = {"metadata": {"name": "web-0"}, "spec": {"containers": []}}


class Answered(NamedTuple):
    code: int
    headers: dict[str, str]
    body: bytes

    def decoded(self) -> Any:
        return json.loads(self.body)


def request(service: ExtenderService, path: str, body: object = None, method: str = "") -> Answered:
    """One request to the application; a body that is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
    pieces = [content[i : i + 100] for i in range(0, len(content), 100)] or [b""]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method or ("POST" if body is not None else "GET"),
        "path": path,
        "headers": [(b"content-length", str(len(content)).encode())],
    }
    asyncio.run(service(scope, receive, send))
    start, end = sent
    headers = {k.decode(): v.decode() for k, v in start["headers"]}
    return Answered(start["status"], headers, end["body"])


class Racks(Extender):
    """Knows racks by the first letter of a node's name."""

    def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        reasons = {"x": "rack is full", "y": Unresolvable("rack is gone")}
        return {name: reasons[name[0]] for name in nodes.names if name[0] in reasons}

    async def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, Any]:
        return {name: np.int64(len(name)) for name in nodes.names if name.startswith("a")}


RACKS = ExtenderService(Racks())


def names(*listed: str) -> dict[str, Any]:
    return {"Pod": POD, "Nodes": None, "NodeNames": list(listed)}


def objects(*listed: str) -> dict[str, Any]:
    items = [{"metadata": {"name": n}, "status": {"nodeInfo": {"osImage": n}}} for n in listed]
    return {"Pod": POD, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}


# the wire


def test_names_are_answered_with_names_and_every_member_is_there() -> None:
    answered = request(RACKS, "/filter", names("a1", "x1", "y1"))
    assert answered.headers["content-type"] == "application/json"
    assert answered.body == (
        b'{"Nodes":null,"NodeNames":["a1"],"FailedNodes":{"x1":"rack is full"},'
        b'"FailedAndUnresolvableNodes":{"y1":"rack is gone"},"Error":""}'
    )


def test_objects_are_answered_with_the_objects_as_they_came() -> None:
    asked = objects("a1", "x1", "b1")
    answered = request(RACKS, "/filter", asked).decoded()
    assert answered["NodeNames"] is None
    assert answered["Nodes"]["metadata"] == {}
    assert answered["Nodes"]["items"] == [asked["Nodes"]["items"][i] for i in (0, 2)]


def test_every_node_gets_a_score() -> None:
    assert request(RACKS, "/prioritize", names("a1", "b1", "a22")).decoded() == [
        {"Host": "a1", "Score": 2},
        {"Host": "b1", "Score": 0},
        {"Host": "a22", "Score": 3},
    ]


def test_requests_may_be_spelled_in_any_case() -> None:
    asked = {"pod": POD, "nodenames": ["a1"], "unknown": 1.5}
    assert request(RACKS, "/filter", asked).decoded()["NodeNames"] == ["a1"]


class Careful(Extender):
    """Saves the first victim, and binds nothing to n9."""

    def __init__(self) -> None:
        self.bound: list[tuple[str, ...]] = []

    def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> dict[str, Victims]:
        return {n: Victims(v.uids[1:], v.violations) for n, v in victims.items() if v.uids[1:]}

    def bind(self, pod_name: str, pod_namespace: str, pod_uid: str, node: str) -> None:
        if node == "n9":
            raise ExtenderError("n9 is closed")
        self.bound.append((pod_name, pod_namespace, pod_uid, node))


@pytest.mark.parametrize("whole", [True, False])
def test_victims_go_in_whole_or_as_uids_and_come_out_as_uids(*, whole: bool) -> None:
    def victims(*uids: str) -> dict[str, Any]:
        pods = [{"metadata": {"uid": u}} if whole else {"UID": u} for u in uids]
        return {"Pods": pods, "NumPDBViolations": 1}

    offered = {"n1": victims("u1", "u2"), "n2": victims("u3")}
    key = "NodeNameToVictims" if whole else "NodeNameToMetaVictims"
    answered = request(ExtenderService(Careful()), "/preempt", {"Pod": POD, key: offered})
    assert answered.decoded() == {
        "NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "u2"}], "NumPDBViolations": 1}}
    }


def test_a_binding_is_carried_out_or_refused_in_the_extenders_words() -> None:
    careful = Careful()
    service = ExtenderService(careful)
    asked = {"PodName": "web-0", "PodNamespace": "default", "PodUID": "u", "Node": "n1"}
    assert request(service, "/bind", asked).body == b'{"Error":""}'
    assert careful.bound == [("web-0", "default", "u", "n1")]
    assert request(service, "/bind", {**asked, "Node": "n9"}).body == b'{"Error":"n9 is closed"}'


# requests that are not right


@pytest.mark.parametrize(
    ("path", "body", "method", "code", "text"),
    [
        ("/bind", {}, "", 404, "Racks does not implement bind; it serves POST /filter, POST /prio"),
        ("/", None, "", 404, "nothing at /; Racks serves POST /filter, POST /prioritize, GET /hea"),
        ("/filter", None, "", 405, "/filter takes POST, not GET"),
        ("/healthz", None, "DELETE", 405, "/healthz takes GET, HEAD, not DELETE"),
        ("/filter", b"nope", "", 400, "the request is not what filter takes: invalid character"),
        ("/filter", b'{"Pod": 5}', "", 400, "json: cannot unmarshal number into Go value of type"),
        ("/filter", b'{"Pod": null, "NodeNames": [5]}', "", 400, "ExtenderArgs.NodeNames"),
        ("/filter", b"[" * 100_000, "", 400, "exceeded max depth"),
    ],
)
def test_a_wrong_request_is_told_what_would_be_right(
    path: str, body: object, method: str, code: int, text: str
) -> None:
    answered = request(RACKS, path, body, method)
    assert answered.code == code
    assert text in answered.body.decode()


def test_requests_are_bounded() -> None:
    service = ExtenderService(Racks(), body_limit=1 << 20)
    answered = request(service, "/filter", b"x" * (1 << 20) + b"x")
    assert (answered.code, answered.body) == (413, b"the request is larger than 1 MiB\n")


# errors in the extender


class Broken(Extender):
    answer: Any = None

    def filter(self, pod: Pod, nodes: Nodes) -> Any:
        if self.answer is None:
            raise ZeroDivisionError("no racks")
        return self.answer

    def prioritize(self, pod: Pod, nodes: Nodes) -> Any:
        return self.answer or [node.metadata.name for node in nodes]


def test_an_exception_is_an_error_that_names_the_class(caplog: pytest.LogCaptureFixture) -> None:
    answered = request(ExtenderService(Broken()), "/filter", names("n1"))
    assert answered.code == 200
    assert answered.decoded()["Error"] == "Broken.filter failed: the extender's log says why"
    (record,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_answers_without_a_place_for_errors_say_it_by_status() -> None:
    answered = request(ExtenderService(Broken()), "/prioritize", names("n1"))
    assert answered.code == 500
    assert "node names only (nodeCacheCapable: true); use nodes.names" in answered.body.decode()


@pytest.mark.parametrize(
    ("verb", "answer", "text"),
    [
        ("filter", ["n1"], "Broken.filter gave back list; it should be a mapping from names of"),
        ("filter", {"n1": False}, "Broken.filter gave back False for 'n1'; it should map names of"),
        ("filter", {"n7": "full"}, "Broken.filter speaks of 'n7', which is not asked"),
        ("prioritize", {"n1": 2.5}, "Broken.prioritize gave 'n1' the score 2.5; scores are whole"),
    ],
)
def test_a_wrong_answer_is_told_to_its_author(verb: str, answer: Any, text: str) -> None:
    broken = Broken()
    broken.answer = answer
    assert text in request(ExtenderService(broken), f"/{verb}", names("n1")).body.decode()


def test_a_slow_plain_method_holds_up_nobody() -> None:
    release = threading.Event()

    class Slow(Extender):
        def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
            if nodes.names == ("last",):
                release.set()
            assert release.wait(PATIENCE_S)
            return {}

    service = ExtenderService(Slow())

    async def one(name: str) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(names(name)).encode()}

        async def send(_: Any) -> None: ...

        scope = {"type": "http", "method": "POST", "path": "/filter", "headers": []}
        await service(scope, receive, send)

    async def story() -> None:
        await asyncio.gather(one("first"), one("last"))

    asyncio.run(story())


# looking


def test_health_and_readiness() -> None:
    class Starting(Racks):
        def ready(self) -> bool:
            return False

    assert request(RACKS, "/healthz").body == b"ok\n"
    assert request(RACKS, "/readyz").code == 200
    assert request(ExtenderService(Starting()), "/readyz").code == 503
    assert request(ExtenderService(Starting()), "/healthz").code == 200


def test_calls_are_counted_by_verb_and_code() -> None:
    service = ExtenderService(Broken())
    request(service, "/filter", names("n1"))
    request(service, "/prioritize", names("n1"))
    request(service, "/filter", b"nope")
    text = request(service, "/metrics").body.decode()
    assert 'podium_extender_requests_total{code="200",verb="filter"} 1.0' in text
    assert 'podium_extender_requests_total{code="400",verb="filter"} 1.0' in text
    assert 'podium_extender_requests_total{code="500",verb="prioritize"} 1.0' in text
    assert 'podium_extender_errors_total{verb="filter"} 1.0' in text
    assert 'podium_extender_request_duration_seconds_count{verb="filter"} 2.0' in text
    assert 'podium_extender_request_duration_seconds_bucket{le="0.001",verb="filter"}' in text


def test_only_http_is_served() -> None:
    with pytest.raises(ValueError, match="only HTTP is served here, not websocket"):
        asyncio.run(RACKS({"type": "websocket"}, None, None))  # type: ignore[arg-type]
