"""The page of `podium run --ui`: at the scheduler's own port, behind who may see its metrics."""

import asyncio
import json
from typing import Any

import pytest
from support.live.management_pages import OPEN, FakeApi, Management, management, reviewed_by
from support.web.page_at_work import parts_of

from podium.testing import FakeCluster, make_node
from podium.web.live_page import mounted_page

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def page_management(*flags: str, kubeconfig: str = "", **fields: Any) -> Management:
    parts = parts_of(FakeCluster(make_node("a")))
    return management(*flags, ui=mounted_page(parts, kubeconfig), **fields)


def test_whoever_may_get_the_path_sees_the_page() -> None:
    async def visit() -> None:
        pages = page_management(OPEN)
        assert "Podium" in (await pages.get("/ui/")).text
        assert (await pages.get("/ui")).headers["location"] == "/ui/"
        assert (await pages.get("/ui/data/cluster")).json["names"] == ["a"]
        assert "content-security-policy" in (await pages.get("/ui/static/main.js")).headers
        assert (await pages.get("/ui/data/nothing")).status == 404
        assert (await pages.ask("DELETE", "/ui/data/queue")).status == 405
        assert (await pages.get("/uibut")).text == "404 page not found\n"

    asyncio.run(visit())


@pytest.mark.parametrize(
    ("kubeconfig", "terminal"),
    [("", ""), ("/etc/a cluster.yaml", "KUBECONFIG='/etc/a cluster.yaml'")],
)
def test_commands_name_the_kubeconfig_of_the_scheduler(kubeconfig: str, terminal: str) -> None:
    async def visit() -> None:
        pages = page_management(OPEN, kubeconfig=kubeconfig)
        assert (await pages.get("/ui/data/overview")).json["terminal"] == terminal

    asyncio.run(visit())


def test_whoever_may_not_get_the_path_sees_nothing() -> None:
    seen: list[Any] = []

    def review(sent: Any) -> Any:
        spec = sent["spec"]["nonResourceAttributes"]
        seen.append((spec["path"], spec["verb"]))
        return {"status": {"allowed": spec["path"] == "/ui/data/queue"}}

    async def visit() -> None:
        user = {"status": {"authenticated": True, "user": {"username": "jane"}}}
        api = FakeApi({TOKENS: user, ACCESS: review})
        pages = page_management(reviewers=reviewed_by(api))
        anonymous = await pages.get("/ui/")
        assert anonymous.status in (401, 403)
        assert (await pages.get("/ui/", authorization="Bearer x")).status == 403
        found = await pages.get("/ui/data/queue", authorization="Bearer x")
        assert json.loads(found.body)["kind"] == "QueueView"
        assert ("/ui/data/queue", "get") in seen

    asyncio.run(visit())


def test_another_site_gets_nothing_by_way_of_somebody_who_may() -> None:
    async def visit() -> None:
        pages = page_management(OPEN)
        asked = await pages.get("/ui/data/queue", **{"sec-fetch-site": "cross-site"})
        assert asked.status == 403

    asyncio.run(visit())


def test_a_page_that_breaks_in_the_middle_is_not_answered_twice() -> None:
    async def broken(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("in the middle")

    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message["type"])

    async def visit() -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/ui/",
            "query_string": b"",
            "headers": [(b"host", b"x")],
        }
        application = management(OPEN, ui=broken).application
        with pytest.raises(RuntimeError, match="in the middle"):
            await application(scope, None, keep)  # type: ignore[arg-type]
        assert sent == ["http.response.start"]

    asyncio.run(visit())


def test_without_the_flag_there_is_no_page() -> None:
    async def visit() -> None:
        assert (await management(OPEN).get("/ui/")).status == 404

    asyncio.run(visit())
