"""The pages about pods and the queue: who may see them, and what they say."""

import asyncio

import pytest
from support.commands.document_schemas import require_valid
from support.live.management_pages import OPEN, FakeApi, management, reviewed_by

from podium.live.record_documents import (
    PodRecord,
    QueuePartSizes,
    QueueRecord,
    SourceRecordList,
)
from podium.live.serving.authentication import ACCESS_REVIEWS

POD = "/debug/podium/pods/shop/web-0"
QUEUE = "/debug/podium/queue"
SOURCES = "/debug/podium/sources"


WHEN = "2026-01-01T00:00:00.000000Z"


class FakeRecords:
    def pod(self, namespace: str, name: str) -> PodRecord | None:
        """Of one that is gone and forgotten."""
        if name != "web-0":
            return None
        return PodRecord(
            namespace=namespace,
            name=name,
            uid=None,
            scheduler_name=None,
            priority=None,
            node=None,
            nominated_node=None,
            place="gone",
            decision=None,
            log=(),
        )

    def queue(self, limit: int) -> QueueRecord:
        """As many active pods as may be listed."""
        sizes = QueuePartSizes(limit, 0, 0, 0, 0)
        return QueueRecord(
            at=WHEN, sizes=sizes, active=(), backoff=(), unschedulable=(), gated=(), waiting=()
        )

    def sources(self) -> SourceRecordList:
        return SourceRecordList(WHEN, ())


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
    assert list(page.json.items())[:4] == [
        ("apiVersion", "podium.dev/v1"),
        ("kind", "PodRecord"),
        ("namespace", "shop"),
        ("name", "web-0"),
    ]
    require_valid(page.json)
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
    for path, limit in ((QUEUE, 500), (f"{QUEUE}?limit=3", 3)):
        queue = asyncio.run(endpoints.get(path)).json
        require_valid(queue)
        assert queue["kind"] == "QueueRecord"
        assert queue["sizes"]["active"] == limit


def test_without_records_there_are_no_pages() -> None:
    assert asyncio.run(management(OPEN).get(QUEUE)).status == 404
