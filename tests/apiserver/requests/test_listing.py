"""Lists: pages that belong together, revisions, and what is too old or too new."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import PODS, Api, Json

from podium.apiserver.store.collection import History


def names(listed: Json) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


def filled(count: int = 5) -> Api:
    api = Api()
    for number in range(count):
        api.create_pod(f"p{number}", labels={"odd": str(number % 2)})
    return api


def test_items_stand_in_a_list_without_kind_and_version() -> None:
    listed = filled(1).get(PODS)

    assert (listed["kind"], listed["apiVersion"]) == ("PodList", "v1")
    assert "kind" not in listed["items"][0]


def test_pages_show_one_state_though_the_world_goes_on() -> None:
    api = filled()
    first = api.get(f"{PODS}?limit=2")
    token = first["metadata"]["continue"]
    api.create_pod("p3a")
    api.delete(f"{PODS}/p4")

    second = api.get(f"{PODS}?limit=2&continue={token}")
    third = api.get(f"{PODS}?limit=2&continue={second['metadata']['continue']}")

    assert first["metadata"]["remainingItemCount"] == 3
    assert names(first) + names(second) + names(third) == ["p0", "p1", "p2", "p3", "p4"]
    assert "continue" not in third["metadata"]
    assert third["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.sampled_from(["", "&labelSelector=odd%3D1"]))
def test_pages_of_any_size_add_up_to_the_list(limit: int, selector: str) -> None:
    api = filled(7)
    whole = names(api.get(f"{PODS}?{selector}"))
    found: list[str] = []
    token = ""
    while True:
        page = api.get(f"{PODS}?limit={limit}{selector}&continue={token}")
        found += names(page)
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert found == whole


def test_how_many_remain_is_not_told_of_a_selection() -> None:
    page = filled().get(f"{PODS}?limit=1&labelSelector=odd%3D1")

    assert "continue" in page["metadata"]
    assert "remainingItemCount" not in page["metadata"]


def test_an_exact_revision_shows_the_past() -> None:
    api = filled(2)
    revision = api.get(PODS)["metadata"]["resourceVersion"]
    api.delete(f"{PODS}/p0")

    exact = api.get(f"{PODS}?resourceVersion={revision}&resourceVersionMatch=Exact")
    newer = api.get(f"{PODS}?resourceVersion={revision}&resourceVersionMatch=NotOlderThan")
    limited = api.get(f"{PODS}?resourceVersion={revision}&limit=1")

    assert names(exact) == ["p0", "p1"]
    assert names(newer) == ["p1"]
    assert names(limited) == ["p0"]


def test_revision_zero_ignores_the_limit() -> None:
    assert len(filled().get(f"{PODS}?resourceVersion=0&limit=2")["items"]) == 5


def test_a_forgotten_revision_is_gone_and_a_token_says_how_to_go_on() -> None:
    api = filled()
    token = api.get(f"{PODS}?limit=2")["metadata"]["continue"]
    collection = api.store.collection("pods")
    collection.history = History(api.store.revision + 1)
    api.create_pod("p9")

    lost = api.ask("GET", f"{PODS}?resourceVersion=2&resourceVersionMatch=Exact")
    stale = api.ask("GET", f"{PODS}?limit=2&continue={token}")
    onward = api.get(f"{PODS}?limit=9&continue={stale.body['metadata']['continue']}")

    assert (lost.status, lost.body["reason"]) == (410, "Expired")
    assert (stale.status, stale.body["reason"]) == (410, "Expired")
    assert names(onward) == ["p2", "p3", "p4", "p9"]


def token(revision: object, start: str = "p1") -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": f"default/{start}\0"})
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def test_a_token_of_the_future_is_not_answered_with_the_present() -> None:
    answer = filled().ask("GET", f"{PODS}?limit=2&continue={token(99999999)}")

    assert (answer.status, answer.body["reason"]) == (504, "Timeout")
    assert answer.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_a_token_without_a_revision_goes_on_with_what_is_there_now() -> None:
    api = filled()
    for revision in (-1, -77):
        page = api.get(f"{PODS}?limit=2&continue={token(revision)}")
        assert names(page) == ["p2", "p3"]
        assert page["metadata"]["resourceVersion"] == str(api.store.revision)


@pytest.mark.parametrize(
    ("revision", "problem"),
    [
        (0, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (None, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (2**63, "json: cannot unmarshal number 9223372036854775808 into"),
        (1.5, "json: cannot unmarshal number 1.5 into"),
        (True, "json: cannot unmarshal bool into"),
        ("5", "json: cannot unmarshal string into"),
    ],
)
def test_a_token_whose_revision_is_none_is_refused(revision: object, problem: str) -> None:
    answer = filled().ask("GET", f"{PODS}?limit=2&continue={token(revision)}")

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    told = f"invalid continue token: continue key is not valid: {problem}"
    assert answer.message.startswith(told)


@pytest.mark.parametrize("start", ["../../secrets", "default/../p1", "a//b", "default/", "./p1"])
@pytest.mark.parametrize("revision", [-1, 1, 5])
def test_a_token_that_leads_out_of_its_collection_is_refused(revision: int, start: str) -> None:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start})
    encoded = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    answer = filled().ask("GET", f"{PODS}?limit=2&continue={encoded}")

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.message == f"invalid continue token: continue key is not valid: {start}"


def test_the_future_is_not_waited_for() -> None:
    answer = Api().ask("GET", f"{PODS}?resourceVersion=99999999")

    assert answer.status == 504
    assert answer.header("retry-after") == ["1"]
    assert answer.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("limit=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("limit=99999999999999999999", 400, "value out of range"),
        ("resourceVersion=abc", 400, "invalid resource version: resourceVersion: Invalid value"),
        ("resourceVersion=99999999999999999999", 400, "value out of range"),
        ("continue=garbage", 400, "invalid continue token: continue key is not valid"),
        ("continue=%21", 400, "invalid continue token"),
        ("continue=e30", 400, "server does not recognize this encoded version"),
        ("continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", 400, "incorrect encoded start"),
        ("continue=x&resourceVersion=5", 400, "specifying resource version is not allowed"),
        ("resourceVersionMatch=Exact", 422, "forbidden unless resourceVersion is provided"),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422, 'forbidden for resourceVersion "0"'),
        ("resourceVersion=1&resourceVersionMatch=Odd", 422, "Unsupported value"),
        ("sendInitialEvents=true", 422, "sendInitialEvents is forbidden for list"),
        ("labelSelector=%3D%3D", 400, "found '=='"),
    ],
)
def test_what_makes_no_sense_is_refused(query: str, status: int, text: str) -> None:
    answer = Api().ask("GET", f"{PODS}?{query}")

    assert answer.status == status
    assert text in answer.message


def test_metadata_alone_can_be_listed() -> None:
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

    listed = filled(1).get(PODS, accept=accept)

    assert listed["kind"] == "PartialObjectMetadataList"
    assert listed["items"][0].keys() == {"kind", "apiVersion", "metadata"}


def test_after_five_minutes_a_list_goes_on_only_with_what_is_there_by_then() -> None:
    api = filled()
    first = api.get(f"{PODS}?limit=2")
    token = first["metadata"]["continue"]
    api.create_pod("p3a")
    for _ in range(14):
        api.clock.now += 20
        api.get(f"{PODS}?limit=2&continue={token}")
    api.clock.now += 40
    late = api.ask("GET", f"{PODS}?limit=2&continue={token}")

    assert (late.status, late.body["reason"]) == (410, "Expired")
    onward = late.body["metadata"]["continue"]
    rest = api.get(f"{PODS}?limit=9&continue={onward}")
    assert names(rest) == ["p2", "p3", "p3a", "p4"]
    assert rest["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
