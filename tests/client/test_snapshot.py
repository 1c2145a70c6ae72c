"""Reading many collections at one point: pages, refusals, and what happens when history is gone."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from support.live.scripted_server import make_list, make_object, refusal

from podium.client import KubeClient, resources
from podium.client.api_errors import Unauthorized
from podium.client.snapshot import Listing, ListProgress, Snapshot, Unread, read_snapshot
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import CSINode

NODES = Listing(resources.NODES, Node)
PODS = Listing(resources.PODS, Pod)
CSI_NODES = Listing(resources.CSI_NODES, CSINode)


class PagedServer:
    """Lists of names by plural, at revision 7; `refuses` may answer in its place."""

    def __init__(
        self,
        names: dict[str, list[str]],
        refuses: Callable[[str, dict[str, str]], Reply | None] = lambda _plural, _query: None,
    ) -> None:
        self.names = names
        self.refuses = refuses
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.at_once = 0
        self.most_at_once = 0

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        assert request.method == "GET"
        plural, query = request.path.rpartition("/")[2], dict(request.query)
        self.asked.append((plural, query))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        refused = self.refuses(plural, query)
        return refused if refused is not None else self._page(plural, query)

    def _page(self, plural: str, query: dict[str, str]) -> Reply:
        start, limit = int(query.get("continue", "0")), int(query.get("limit", "1000"))
        names = self.names[plural]
        items = [make_object(name, 1, "") for name in names[start : start + limit]]
        following = str(start + limit) if start + limit < len(names) else ""
        return make_list(7, *items, following=following)

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    async def close(self) -> None: ...


def read(server: PagedServer, *listings: Listing, **options: Any) -> Snapshot:
    return asyncio.run(read_snapshot(KubeClient(server), listings, page=2, **options))


def names(snapshot: Snapshot, listing: Listing) -> list[str]:
    return [obj.name for obj in snapshot.objects[listing.resource]]


def test_all_lists_are_asked_for_at_the_revision_of_the_first() -> None:
    server = PagedServer({"nodes": ["a", "b", "c"], "pods": ["p"]})
    snapshot = read(server, NODES, PODS)
    assert names(snapshot, NODES) == ["a", "b", "c"]
    assert names(snapshot, PODS) == ["p"]
    assert (snapshot.revision, snapshot.later, snapshot.unread) == ("7", [], {})
    exact = {"resourceVersion": "7", "resourceVersionMatch": "Exact", "limit": "2"}
    assert [query for plural, query in server.asked if plural == "pods"] == [exact]
    following = [query for plural, query in server.asked if plural == "nodes"]
    assert following == [{"limit": "1"}, exact, {"limit": "2", "continue": "2"}]


def test_a_list_that_expires_between_pages_is_started_anew() -> None:
    lost: list[dict[str, str]] = []

    def refuses(plural: str, query: dict[str, str]) -> Reply | None:
        if plural == "pods" and "continue" in query and not lost:
            lost.append(query)
            return refusal(410, "Expired")
        return None

    snapshot = read(PagedServer({"nodes": [], "pods": ["a", "b", "c"]}, refuses), NODES, PODS)
    assert names(snapshot, PODS) == ["a", "b", "c"]
    assert snapshot.later == [resources.PODS]


def test_a_list_that_always_expires_is_asked_for_at_once() -> None:
    def refuses(plural: str, query: dict[str, str]) -> Reply | None:
        return refusal(410, "Expired") if "continue" in query else None

    server = PagedServer({"pods": ["a", "b", "c"]}, refuses)
    assert names(read(server, PODS), PODS) == ["a", "b", "c"]
    assert server.asked[-1] == ("pods", {})


def test_kinds_that_are_forbidden_or_not_served_are_left_out_and_named() -> None:
    def refuses(plural: str, query: dict[str, str]) -> Reply | None:
        answers = {
            "csinodes": refusal(403, "Forbidden"),
            "nodes": Reply(404, {}, b"404 page not found"),
        }
        return answers.get(plural)

    snapshot = read(PagedServer({"pods": ["p"]}, refuses), NODES, PODS, CSI_NODES)
    assert snapshot.unread == {
        resources.NODES: Unread.NOT_SERVED,
        resources.CSI_NODES: Unread.FORBIDDEN,
    }
    assert names(snapshot, PODS) == ["p"]


def test_a_stranger_is_refused_once_and_for_all() -> None:
    server = PagedServer({}, lambda _plural, _query: refusal(401, "Unauthorized"))
    with pytest.raises(Unauthorized):
        read(server, NODES, PODS)
    assert len(server.asked) == 1


def test_no_more_lists_are_under_way_than_allowed() -> None:
    many = {resource.plural: ["a"] for resource in (resources.NODES, resources.PODS)}
    many["csinodes"] = ["a", "b", "c"]
    server = PagedServer(many)
    read(server, NODES, PODS, CSI_NODES, lists_at_once=1)
    assert server.most_at_once == 1
    read(server, NODES, PODS, CSI_NODES, lists_at_once=2)
    assert server.most_at_once == 2


def test_progress_and_pages_are_told_and_objects_that_make_no_sense_passed_over() -> None:
    news: list[ListProgress] = []
    pages: list[int] = []
    listing = Listing(resources.PODS, Pod, on_decoded=lambda items: pages.append(len(items)))

    def refuses(plural: str, query: dict[str, str]) -> Reply | None:
        if "continue" not in query:
            return None
        body = {"metadata": {}, "items": [{"metadata": {"name": "bad"}, "spec": 5}]}
        return Reply(200, {}, json.dumps(body).encode())

    server = PagedServer({"pods": ["a", "b", "c"]}, refuses)
    snapshot = read(server, listing, on_progress=news.append)
    assert pages == [2, 0]
    assert [each.read for each in news] == [2, 2]
    assert news[-1].left == 0
    (problem,) = snapshot.problems
    assert problem.startswith("pods bad: ")
