"""The pages about pods and the queue: who may see them, and what they say."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from support.live.management_pages import OPEN, FakeApi, management, reviewed_by

from podium.live.serving.authentication import ACCESS_REVIEWS

POD = "/debug/podium/pods/shop/web-0"
QUEUE = "/debug/podium/queue"
SOURCES = "/debug/podium/sources"


class FakeRecords:
    def pod(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        return {"namespace": namespace, "name": name} if name == "web-0" else None

    def queue(self, limit: int) -> Mapping[str, Any]:
        return {"limit": limit}

    def sources(self) -> Mapping[str, Any]:
        return {"sources": []}


def test_a_stranger_sees_no_records() -> None:
    endpoints = management(records=FakeRecords())
    for path in (POD, QUEUE, SOURCES):
        page = asyncio.run(endpoints.get(path))
        assert page.status == 403
        assert page.json["message"] == (
            f'forbidden: User "system:anonymous" cannot get path "{path}"'
        )


def test_the_api_server_decides_who_may_read_which_path() -> None:
    api = FakeApi({ACCESS_REVIEWS: {"status": {"allowed": True}}})
    page = asyncio.run(management(reviewers=reviewed_by(api), records=FakeRecords()).get(POD))
    assert list(page.json.items()) == [
        ("apiVersion", "podium.dev/v1"),
        ("kind", "PodRecord"),
        ("namespace", "shop"),
        ("name", "web-0"),
    ]
    (_, review) = api.asked[-1]
    assert review["spec"]["nonResourceAttributes"] == {"path": POD, "verb": "get"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/debug/podium/pods/shop/other", 404),
        ("GET", "/debug/podium/pods/shop", 404),
        ("GET", "/debug/podium/pods/shop/web-0/log", 404),
        ("GET", "/debug/podium", 404),
        ("DELETE", POD, 405),
        ("PUT", QUEUE, 405),
        ("POST", SOURCES, 405),
        ("GET", f"{QUEUE}?limit=many", 400),
        ("GET", f"{QUEUE}?limit=10001", 400),
    ],
)
def test_what_is_not_there_or_not_meant_is_refused(method: str, path: str, status: int) -> None:
    page = asyncio.run(management(OPEN, records=FakeRecords()).ask(method, path))
    assert page.status == status


def test_the_queue_is_listed_as_far_as_asked() -> None:
    endpoints = management(OPEN, records=FakeRecords())
    queue = {"apiVersion": "podium.dev/v1", "kind": "QueueRecord"}
    assert asyncio.run(endpoints.get(QUEUE)).json == {**queue, "limit": 500}
    assert asyncio.run(endpoints.get(f"{QUEUE}?limit=3")).json == {**queue, "limit": 3}


def test_without_records_there_are_no_pages() -> None:
    assert asyncio.run(management(OPEN).get(QUEUE)).status == 404
