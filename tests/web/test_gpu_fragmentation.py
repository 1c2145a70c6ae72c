"""Idle GPU that typical pods cannot use, on the page."""

from typing import TYPE_CHECKING

import pytest
from support.addons.gpu.gpu_cluster import (
    NOT_ON_NODES,
    NOW,
    cards_of,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
)
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import page_at_work

from podium.testing import FakeCluster, make_node
from podium.web.fragmentation_document import FragmentationView, fragmentation_document

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MEMORY = 16_384


def shared_cards() -> FakeCluster:
    """Four pods wait for a whole card."""
    nodes = [gpu_node("a", cards_of(2), labels={"disk": "fast"}), gpu_node("b", cards_of(1))]
    cluster = gpu_cluster(*nodes, make_node("c"))
    whole, gates = share("hami", MEMORY, 100), [{"name": "later"}]
    cluster.put(*(gpu_pod(f"w{at}", whole, schedulingGates=gates) for at in range(4)))
    return cluster


def take_half(cluster: FakeCluster, name: str) -> None:
    """Of a card of the first node: the rest is of use to pods like this one alone."""
    half = share("hami", MEMORY // 2, 50)
    cluster.schedule(gpu_pod(name, half, nodeSelector={"disk": "fast"}))


def test_fragments_are_known_whoever_gives_cards_away() -> None:
    cluster = shared_cards()
    take_half(cluster, "half")
    found = fragmentation_document(cluster.engine)
    assert found == FragmentationView(
        idle=2.5,
        fragmented=0.4,
        names=("a", "b"),
        node_idle=(1.5, 1.0),
        node_fragmented=(0.4, 0.0),
    )
    # The same objects before a scheduler without GPUShare.
    other = FakeCluster(args={"NodeResourcesFit": {"ignoredResources": list(NOT_ON_NODES)}})
    other.clock.now = NOW
    nodes = cluster.engine.cluster.nodes
    other.put(*(nodes.node(row) for row in range(nodes.size)))
    other.put(*cluster.engine.state.pods.values())
    assert fragmentation_document(other.engine) == found


def test_without_cards_there_is_nothing_to_tell() -> None:
    plain = FakeCluster(make_node("c", allocatable={"cpu": "4", "example.com/disk": "2"}))
    assert fragmentation_document(plain.engine).names == ()


@pytest.mark.parametrize("width", [1200, 390])
def test_fragmentation_is_seen_of_the_cluster_and_of_a_node(browser: "Browser", width: int) -> None:
    with (
        page_at_work(shared_cards()) as work,
        opened(browser, f"{work.link}#/cluster?node=a", width=width) as page,
    ):
        work.do(lambda: take_half(work.cluster, "half"))
        told = "0.4 of 2.5 idle cards are of no use to typical pods, 16%"
        page.wait_for_selector(f"#cluster-fragmentation:has-text('{told}')")
        page.wait_for_selector("#node-fragmentation:has-text('0.4 of 1.5 idle cards')")
        page.select_option("#resource", "GPU fragmentation")
        page.locator("#as-table").press("Enter")
        # The table of the resource that was chosen before may still be there.
        page.wait_for_selector("main table th:has-text('GPU fragmentation')")
        rows = page.locator("main table").first.locator("tbody tr")
        assert rows.first.locator("td").all_inner_texts()[1:] == ["", "27%", "0.4", "1.5"]
        assert accessibility_problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.reload()
        page.wait_for_selector("th:has-text('GPU fragmentation')")
        page.locator("#as-table").press("Enter")
        work.do(lambda: take_half(work.cluster, "other-half"))
        page.wait_for_selector("#cluster-fragmentation:has-text(' of 2 idle cards')")
