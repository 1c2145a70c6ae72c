"""The map of the page, in a real browser: pods within nodes, what is the matter with nodes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace
from support.addons.gpu.gpu_cluster import cards_of, gpu_cluster, gpu_node, gpu_pod, share
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import HOSTILE_NAME, PageAtWork, busy_page, page_at_work

from podium.kubernetes.kinds.node import Node, NodeCondition
from podium.testing import FakeCluster, make_node, make_pod

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MAX_WIRE_BYTES: Final = 80_000
MANY: Final = 10_000
MAX_DRAWN: Final = 45_000
"""Rectangles, lines and texts of one frame: what a browser draws in a few milliseconds."""

_COUNT_DRAWING: Final = """
() => {
  window.drawnByFrame = [];
  let drawn = 0;
  for (const name of ["fillRect", "strokeRect", "stroke", "fill", "fillText"]) {
    const before = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      drawn += 1;
      return before.apply(this, given);
    };
  }
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => ask((at) => {
    drawn = 0;
    draw(at);
    if (drawn) window.drawnByFrame.push(drawn);
  });
}
"""
_NOTE_MOVES: Final = """
() => {
  window.moved = [];
  const canvas = document.querySelector("canvas");
  new MutationObserver(() => window.moved.push(canvas.dataset.moving)).observe(canvas, {
    attributes: true, attributeFilter: ["data-moving"],
  });
}
"""


def with_condition(node: Node, name: str, state: str) -> Node:
    condition = NodeCondition(type=name, status=state)
    return replace(node, status=replace(node.status, conditions=(condition,)))


@pytest.fixture(scope="module")
def troubled() -> Iterator[PageAtWork]:
    """A node in each state, one that is well, and pods of three workloads."""
    cluster = FakeCluster(
        make_node("well"),
        with_condition(make_node("dead"), "Ready", "Unknown"),
        with_condition(make_node("short"), "MemoryPressure", "True"),
        make_node("cordoned", unschedulable=True),
        make_node("tainted", taints=[("dedicated", "db", "NoSchedule")]),
        make_node("full"),
        make_node("over"),
        validate=False,
    )
    for name, cpu, node, app in (
        ("web-0", "1", "well", "web"),
        ("web-1", "500m", "well", "web"),
        ("db-0", "4", "full", "db"),
        ("db-1", "5", "over", "db"),
        (HOSTILE_NAME, "1", "dead", HOSTILE_NAME),
    ):
        cluster.put(make_pod(name, requests={"cpu": cpu}, node=node, labels={"app": app}))
    with page_at_work(cluster) as work:
        yield work


def see_map(page: "Page", address: str = "#/cluster?group=none") -> None:
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(".map-keys button")


def said(page: "Page") -> str:
    """What is read out of where the keyboard is."""
    return page.locator("p.only-read[aria-live]").inner_text()


def test_every_state_of_a_node_has_a_name_a_sign_and_a_filter(
    browser: "Browser", troubled: PageAtWork
) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page)
        shapes = set()
        for state in ("dead", "under pressure", "cordoned", "tainted", "full", "overcommitted"):
            key = page.get_by_role("button", name=re.compile(rf"^1 node {state}: .*show only"))
            assert key.count() == 1, state
            shapes.add(key.locator("svg path").get_attribute("d"))
        assert len(shapes) == 6
        page.get_by_role("button", name=re.compile("^1 node dead")).press("Enter")
        page.wait_for_selector("#cluster-total:has-text('1 of 7 nodes match')")
        assert "only=node+dead" in page.url
        page.locator("#as-table").press("Enter")
        row = page.locator("main table tbody tr")
        assert row.count() == 1
        assert row.locator("td").first.inner_text().split() == ["dead", "dead"]
        page.get_by_role("button", name=re.compile("^1 node dead")).press("Enter")
        page.wait_for_function(
            "() => document.querySelectorAll('main table tbody tr').length === 7"
        )
        assert accessibility_problems(page) == []


def test_a_state_is_said_when_the_keyboard_comes_to_the_node(
    browser: "Browser", troubled: PageAtWork
) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page)
        page.locator("canvas").focus()
        heard = []
        page.keyboard.press("Home")
        for key in ("ArrowRight",) * 3 + ("ArrowDown",) + ("ArrowLeft",) * 3:
            heard.append(said(page))
            page.keyboard.press(key)
        heard.append(said(page))
        text = "\n".join(heard)
        for words in ("cordoned: cordoned", "dead: dead", "short: under pressure", "full: full"):
            assert words in text


def test_the_keyboard_goes_to_a_pod_and_opens_it(browser: "Browser", troubled: PageAtWork) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page, "#/cluster?group=none&node=well")
        page.wait_for_selector("aside h2:has-text('well')")
        page.locator("canvas").focus()
        page.keyboard.press(".")
        assert said(page).startswith(
            "default/web-0: requests 1 cpu, workload default/web, priority 0"
        )
        page.keyboard.press(".")
        assert said(page).startswith("default/web-1: requests 0.5 cpu")
        page.keyboard.press(",")
        page.keyboard.press("Enter")
        page.wait_for_selector("#chosen-pod:has-text('default/web-0')")
        assert "pod=default%2Fweb-0" in page.url
        page.locator("#chosen-pod a").press("Enter")
        page.wait_for_selector("h1:has-text('default/web-0')")


def test_pods_are_blocks_in_the_colour_of_their_workload(
    browser: "Browser", troubled: PageAtWork
) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page, "#/cluster?group=none&only=pods+default/web")
        colours = page.evaluate(
            """() => {
              const canvas = document.querySelector("canvas");
              const context = canvas.getContext("2d");
              const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
              const seen = {};
              for (let at = 0; at < data.length; at += 4) {
                const colour = [...data.slice(at, at + 3)].join();
                seen[colour] = (seen[colour] ?? 0) + 1;
              }
              return seen;
            }"""
        )
        swatch = page.locator("button.key[aria-pressed=true] .swatch")
        shown = swatch.evaluate("each => getComputedStyle(each).backgroundColor")
        assert colours[",".join(re.findall(r"\d+", shown))] > 500
        assert page.locator("#cluster-total").inner_text().endswith("1 of 7 nodes match, 2 pods")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_who_lands_and_who_leaves_is_seen_and_said(browser: "Browser", motion: str) -> None:
    cluster = FakeCluster(make_node("a"), make_node("b"), validate=False)
    with page_at_work(cluster) as work, opened(browser, work.link, motion=motion) as page:
        work.do(lambda: cluster.put(make_pod("first", requests={"cpu": "1"}, node="a")))
        see_map(page)
        page.evaluate(_NOTE_MOVES)
        work.do(lambda: cluster.put(make_pod("fresh", requests={"cpu": "1"}, node="b")))
        page.wait_for_selector("#map-news:has-text('default/fresh → b')")
        work.do(lambda: cluster.delete("first"))
        page.wait_for_selector("#map-news:has-text('default/first left a')")
        if motion == "reduce":
            page.locator("canvas").focus()
            page.keyboard.press("Home")  # draws once more
            assert not any(page.evaluate("window.moved"))
            return
        page.wait_for_function("() => window.moved.some((keys) => keys.includes('default/fresh'))")
        page.wait_for_function("() => window.moved.some((keys) => keys.includes('default/first'))")
        page.wait_for_function("() => window.moved.at(-1) === ''")


def test_words_find_nodes_pods_and_workloads(browser: "Browser", troubled: PageAtWork) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page)
        for words, found in (
            ("cordoned", "1 of 7 nodes match"),
            ("web-1", "1 of 7 nodes match, 1 pod"),
            ("default/db", "2 of 7 nodes match, 2 pods"),
            ("MemoryPressure", "1 of 7 nodes match"),
            ("nobody has this", "0 of 7 nodes match"),
        ):
            page.fill("#node-search", words)
            page.wait_for_function(
                "end => document.querySelector('#cluster-total').textContent.endsWith(end)",
                arg=found,
            )


def test_the_search_of_the_page_goes_on_to_the_map(
    browser: "Browser", troubled: PageAtWork
) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page)
        page.keyboard.press("/")
        page.keyboard.type("default/db")
        page.get_by_role("link", name="Nodes, pods and workloads on the map").press("Enter")
        page.wait_for_selector("#cluster-total:has-text('2 of 7 nodes match, 2 pods')")
        assert page.locator("#node-search").input_value() == "default/db"


def test_pods_of_a_node_that_goes_are_gone_and_come_back_with_it(browser: "Browser") -> None:
    cluster = FakeCluster(make_node("a"), make_node("b"), validate=False)
    with page_at_work(cluster) as work, opened(browser, work.link) as page:
        work.do(lambda: cluster.put(make_pod("one", node="a", labels={"app": "web"})))
        see_map(page)
        key = ".map-keys button:has-text('default/web')"
        page.wait_for_selector(key)
        work.do(lambda: cluster.engine.intake.node_deleted("a"))
        page.wait_for_selector(key, state="detached")
        work.do(lambda: cluster.put(make_node("a")))
        page.wait_for_selector(key)


def test_colours_groups_and_sizes_are_in_the_address(
    browser: "Browser", troubled: PageAtWork
) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page)
        page.select_option("#colour", "priority")
        page.wait_for_selector("[aria-label='Pods by priority'] button:has-text('0')")
        page.select_option("#size", "capacity")
        page.select_option("#group", "owner: workload")
        for chosen in ("colour=priority", "size=capacity", "group=owner%3A+workload"):
            assert chosen in page.url
        page.select_option("#colour", "full")
        page.wait_for_selector(".map-keys .ramp")
        page.reload()
        page.wait_for_selector(".map-keys .ramp")
        assert page.locator("#size").input_value() == "capacity"


def test_names_that_mean_harm_are_text_on_the_map(browser: "Browser", troubled: PageAtWork) -> None:
    with opened(browser, troubled.link) as page:
        see_map(page, "#/cluster?group=owner: workload&node=dead")
        page.wait_for_selector(f".map-keys button:has-text('default/{HOSTILE_NAME}')")
        page.wait_for_selector("aside h2:has-text('dead')")
        page.locator("canvas").focus()
        page.keyboard.press(".")
        assert said(page).startswith(f"default/{HOSTILE_NAME}")
        page.locator(f".map-keys button:has-text('{HOSTILE_NAME}')").press("Enter")
        assert page.locator("img").count() == 0


@pytest.mark.parametrize("width", [1200, 390])
def test_a_gpu_node_shows_its_cards_as_bars_of_shares(browser: "Browser", width: int) -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), make_node("b"))
    with (
        page_at_work(cluster) as work,
        opened(browser, f"{work.link}#/cluster?node=a", width=width) as page,
    ):
        work.do(lambda: cluster.schedule(gpu_pod("half", share("hami", 8192, 25))))
        page.wait_for_selector("ul.cards [aria-label='50% taken by 1 pod']")
        assert page.locator("ul.cards .owner").all_inner_texts() == ["default/half 50%"]
        assert "of 0" not in page.locator("aside").inner_text()
        aside = page.locator("aside")
        assert aside.evaluate("each => each.scrollWidth <= each.clientWidth")
        # No word of a model is cut into letters.
        lines = page.locator(".card-name").first.evaluate(
            "each => Math.round(each.clientHeight / parseFloat(getComputedStyle(each).lineHeight))"
        )
        assert lines == 1
        assert accessibility_problems(page) == []
        page.select_option("#group", "GPU model")
        page.locator("#as-table").press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_ten_thousand_nodes_are_drawn_with_a_bounded_number_of_strokes(browser: "Browser") -> None:
    with busy_page(MANY) as work, opened(browser, work.link, width=1440, height=900) as page:

        def fill() -> None:
            for at in range(MANY):
                asks = {"cpu": f"{(at % 5 + 1) * 300}m"}
                work.cluster.put(make_pod(f"p-{at}", requests=asks, node=f"node-{at:05d}"))

        work.do(fill)
        page.evaluate(_COUNT_DRAWING)
        see_map(page)
        page.wait_for_selector(".map-keys button:has-text('10,')")
        box = page.locator("canvas").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3)
        for _ in range(24):
            page.mouse.wheel(0, -80)
        page.locator("canvas").press("0")
        page.wait_for_function("() => window.drawnByFrame.length > 5")
        frames = page.evaluate("window.drawnByFrame")
        assert max(frames) < MAX_DRAWN


def test_what_a_browser_loads_for_the_first_view_is_small(
    browser: "Browser", small_page: PageAtWork
) -> None:
    context = browser.new_context()
    page = context.new_page()
    sizes: list[int] = []
    page.on(
        "response",
        lambda answer: (
            sizes.append(int(answer.headers["content-length"]))
            if "/static/" in answer.url
            else None
        ),
    )
    page.goto(small_page.link)
    page.wait_for_selector("#cluster-total:has-text('requested')")
    context.close()
    assert len(sizes) > 10
    assert sum(sizes) < MAX_WIRE_BYTES


def test_a_report_shows_pods_within_nodes_too(browser: "Browser", report: Path) -> None:
    with opened(browser, report.as_uri() + "#/cluster") as page:
        page.wait_for_selector("[aria-label='Pods by workload'] button")
        page.locator("canvas").focus()
        page.keyboard.press("Home")
        for _ in range(9):
            page.keyboard.press(".")
            if "requests" in said(page):
                break
            page.keyboard.press("ArrowRight")
        assert "requests" in said(page)
        assert accessibility_problems(page) == []
