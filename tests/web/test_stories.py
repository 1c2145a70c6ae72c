"""Stories of pods that belong together, in a real browser: a node's guests, a gang, GPU cards."""

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.addons.collection.gang_cluster import GangCluster, group, member
from support.addons.gpu.gpu_cluster import cards_of, gpu_node
from support.commands.document_schemas import require_valid
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import PageAtWork, page_at_work

from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.golang.document_structs import Document
from podium.net.files.versioned_documents import encode_document
from podium.testing import FakeCluster, make_node, make_pod

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def gangs() -> Iterator[PageAtWork]:
    """A gang of three whose last member is still to be tried, and a pod in another's place."""
    cluster = GangCluster(
        make_node("big", allocatable={"cpu": 3, "memory": "8Gi", "pods": 10}),
        make_node(
            "small",
            labels={"only": "this"},
            allocatable={"cpu": 1, "memory": "8Gi", "pods": 10},
        ),
        validate=False,
    )
    with page_at_work(cluster) as work:
        work.do(lambda: _fill(cluster))
        yield work


def _fill(cluster: GangCluster) -> None:
    cluster.clock.now = time.time()
    cluster.put(make_pod("early", requests={"cpu": "1"}, nodeSelector={"only": "this"}))
    cluster.settle()
    cluster.wait(30)
    cluster.put(
        make_pod("urgent", requests={"cpu": "1"}, priority=10, nodeSelector={"only": "this"})
    )
    cluster.settle()
    cluster.wait(5)
    cluster.delete("early")
    cluster.wait(20)
    cluster.settle()
    cluster.put(group("trio", 3), *(member(f"trio-{at}", "trio") for at in range(3)))
    cluster.attempt()
    cluster.attempt()


def test_a_nodes_story_tells_who_was_evicted_for_whom(
    browser: "Browser", gangs: PageAtWork
) -> None:
    with opened(browser, gangs.link) as page:
        page.evaluate("location.hash = '#/cluster?node=small'")
        page.get_by_role("link", name="its story").click()
        row = page.locator("tr", has_text="default/early")
        row.get_by_text("evicted for").wait_for()
        assert row.get_by_role("link", name="default/urgent").count() == 1
        assert "30 s" in row.inner_text()
        assert "still here" in page.locator("tr", has_text="default/urgent").last.inner_text()
        assert page.locator(".track svg rect").count() == 2
        assert accessibility_problems(page) == []


def test_a_gangs_story_has_all_members_on_one_time_line(
    browser: "Browser", gangs: PageAtWork
) -> None:
    with opened(browser, gangs.link, width=390) as page:
        page.evaluate("location.hash = '#/story/default/trio-0'")
        page.get_by_role("link", name="with its gang").click()
        page.get_by_text("0 of 3 members").wait_for()
        assert "at least 3 together" in page.locator("main").inner_text()
        assert page.locator(".track .name").count() == 3
        assert page.evaluate("location.hash") == "#/story?gang=default%2Ftrio"
        assert accessibility_problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_those_who_wait_for_each_other_lead_to_their_gang(
    browser: "Browser", gangs: PageAtWork
) -> None:
    page_documents = gangs.page
    queue = gangs.do(lambda: page_documents.document("queue", {}))
    story = gangs.do(lambda: page_documents.document("nodes/small/story", {}))
    gang = gangs.do(lambda: page_documents.document("gangs/default/trio", {}))
    for document in (queue, story, gang):
        assert isinstance(document, Document)
        require_valid(json.loads(encode_document(document)))
    with opened(browser, gangs.link + "#/queue?part=waiting") as page:
        page.get_by_role("link", name="default/trio", exact=True).first.click()
        page.get_by_text("0 of 3 members").wait_for()


def test_an_opened_node_shows_who_has_which_card(browser: "Browser") -> None:
    cluster = FakeCluster(
        gpu_node("gpu", cards_of(2), now=time.time()),
        plugins=[GPUShare],
        args={
            "GPUShare": {"dialect": "hami"},
            "NodeResourcesFit": {"ignoredResources": ["nvidia.com/gpumem"]},
        },
        validate=False,
    )
    cluster.clock.now = time.time()
    with page_at_work(cluster) as work:
        limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}
        work.do(lambda: cluster.schedule(make_pod("trainer", limits=limits, requests=limits)))
        with opened(browser, work.link + "#/cluster?node=gpu") as page:
            page.get_by_role("heading", name="2 GPU cards").wait_for()
            card = page.locator("li", has_text="default/trainer").first
            assert "4Gi of 16Gi" in card.inner_text()
            assert accessibility_problems(page) == []
