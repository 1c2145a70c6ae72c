"""The page as people see it, in a real browser."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import HOSTILE_NAME, PageAtWork, busy_page, page_at_work

from podium.testing import FakeCluster, make_node, make_pod

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Address -> something that is there once the view has its data.
VIEWS = {
    "#/cluster": "#cluster-total:has-text('requested')",
    "#/cluster?as=table": "td:has-text('node-0')",
    "#/cluster?node=node-00001": "aside h2:has-text('node-00001')",
    "#/queue": "td b:has-text('Insufficient cpu')",
    "#/pod": "td a:has-text('default/giant')",
    "#/pod/default/giant": "#proposals li",
    "#/pod/default/placed": ".matrix td.cell",
    "#/story": ".track svg rect",
    "#/story/default/giant": "td:has-text('rejected by NodeResourcesFit')",
    "#/throughput": ".chart svg",
    "#/configuration": "td:has-text('PodTopologySpread')",
}


def go(page: "Page", address: str) -> None:
    """To a view, and wait until it has its data."""
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(VIEWS[address])


def test_every_view_shows_its_data(browser: "Browser", any_page: PageAtWork) -> None:
    with opened(browser, any_page.link) as page:
        for address in VIEWS:
            go(page, address)
            assert page.locator("footer code").inner_text().startswith("KUBECONFIG=k ")
            assert page.url.endswith(address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_everybody_can_use_every_view(
    browser: "Browser", small_page: PageAtWork, scheme: str, width: int
) -> None:
    with opened(browser, small_page.link, width=width, scheme=scheme) as page:
        for address in VIEWS:
            go(page, address)
            assert accessibility_problems(page) == [], address
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def test_a_newcomer_finds_out_why_a_pod_waits_and_what_to_do(
    browser: "Browser", small_page: PageAtWork
) -> None:
    with opened(browser, small_page.link) as page:
        assert "token" not in page.evaluate("location.search")
        page.get_by_role("link", name="Why does default/giant wait?").click()
        cause = page.locator(".cause").inner_text()
        assert cause.startswith("The pod asks for 64 cpu; the largest node")
        first = page.locator("#proposals li").first
        assert "cpu request" in first.inner_text()
        assert first.locator("code").first.inner_text().startswith("kubectl")


def test_names_that_mean_harm_are_text(browser: "Browser", small_page: PageAtWork) -> None:
    with opened(browser, small_page.link) as page:
        for view in ("#/queue", "#/pod", "#/story"):
            go(page, view)
            page.get_by_text(HOSTILE_NAME).first.wait_for()
            assert page.locator("img").count() == 0
        page.get_by_role("link", name=HOSTILE_NAME).first.click()
        page.wait_for_selector(f"h1:has-text('{HOSTILE_NAME}')")
        page.fill("#find", "onerror")
        page.wait_for_selector(".found a")
        assert page.locator("img").count() == 0


def test_what_happens_is_seen_at_once(browser: "Browser", small_page: PageAtWork) -> None:
    cluster = small_page.cluster
    with opened(browser, small_page.link) as page:
        go(page, "#/cluster")
        before = page.locator("#cluster-total").inner_text()
        small_page.do(lambda: cluster.schedule(make_pod("fresh", requests={"cpu": "1"})))
        page.wait_for_function(
            "before => document.querySelector('#cluster-total').textContent !== before",
            arg=before,
        )
        go(page, "#/pod")
        page.wait_for_selector("td a:has-text('default/fresh')")
        small_page.do(lambda: cluster.delete("fresh"))
        page.wait_for_selector("td a:has-text('default/fresh')", state="detached")


def test_nodes_that_come_appear(browser: "Browser") -> None:
    cluster = FakeCluster(make_node("a"), validate=False)
    with page_at_work(cluster) as work, opened(browser, work.link + "#/cluster?as=table") as page:
        page.wait_for_selector("td a:has-text('a')")
        work.do(lambda: cluster.put(make_node("brand-new")))
        page.wait_for_selector("td a:has-text('brand-new')")
        assert page.locator(".panel.alert").count() == 0  # nobody waits


def test_filters_are_in_the_address_and_come_back_with_it(
    browser: "Browser", large_page: PageAtWork
) -> None:
    with opened(browser, large_page.link) as page:
        go(page, "#/cluster")
        page.select_option("#resource", "memory")
        page.select_option("#group", "pool")
        page.fill("#node-search", "node-0012")
        page.wait_for_selector("#cluster-total:has-text('10 of 5,000 nodes match')")
        address = page.evaluate("location.hash")
        page.goto("about:blank")
        page.goto(large_page.server.origin + "/" + address)
        page.wait_for_selector("#cluster-total:has-text('memory')")
        page.wait_for_selector("#cluster-total:has-text('10 of 5,000 nodes match')")
        assert page.locator("#group").input_value() == "pool"
        page.evaluate("location.hash = '#/queue?part=gated&q=gated'")
        page.wait_for_selector("section[data-part=gated] td a")
        assert page.locator("section[data-part=unschedulable]").count() == 0
        page.fill("#queue-search", "nobody")
        page.wait_for_selector("section[data-part=gated] p:has-text('none')")


def test_everything_can_be_done_with_the_keyboard(
    browser: "Browser", large_page: PageAtWork
) -> None:
    with opened(browser, large_page.link) as page:
        go(page, "#/cluster")
        canvas = page.locator("canvas")
        canvas.focus()
        for key in ("Home", "ArrowRight", "ArrowDown", "+", "+", "-", "0", "Enter"):
            page.keyboard.press(key)
        opened_name = page.locator("aside h2.name").inner_text()
        assert re.fullmatch(r"node-\d{5}", opened_name)
        assert f"node={opened_name}" in page.url
        page.locator("#close-node").press("Enter")
        assert page.evaluate("document.activeElement.tagName") == "CANVAS"
        page.keyboard.press("/")
        page.keyboard.type("giant")
        page.wait_for_selector(".found a")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('default/giant')")
        page.locator("nav a", has_text="Queue").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("nav a[aria-current]:has-text('Queue')")


def test_a_node_is_found_with_the_pointer_while_zoomed(
    browser: "Browser", large_page: PageAtWork
) -> None:
    with opened(browser, large_page.link) as page:
        go(page, "#/cluster")
        box = page.locator("canvas").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 200, box["y"] + 120)
        for _ in range(5):
            page.mouse.wheel(0, -300)
        page.mouse.down()
        page.mouse.move(box["x"] + 150, box["y"] + 100)
        page.mouse.up()
        page.mouse.click(box["x"] + 250, box["y"] + 200)
        page.wait_for_selector("aside h2:has-text('node-')")


def test_who_types_goes_on_typing_when_nodes_come(browser: "Browser") -> None:
    with busy_page(3) as work, opened(browser, work.link) as page:
        go(page, "#/cluster")
        page.locator("#node-search").focus()
        page.keyboard.type("node-1")
        page.keyboard.press("ArrowLeft")
        work.do(lambda: work.cluster.put(make_node("node-0001x")))
        page.wait_for_selector("#cluster-total:has-text('0 of 4 nodes match')")
        page.keyboard.type("000")
        page.wait_for_selector("#cluster-total:has-text('1 of 4 nodes match')")
        assert page.locator("#node-search").input_value() == "node-0001"


def test_the_theme_can_be_chosen_and_is_kept(browser: "Browser", small_page: PageAtWork) -> None:
    with opened(browser, small_page.link, scheme="light") as page:
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        for _ in range(2):
            page.locator("#theme").click()
        dark = page.evaluate(paper)
        assert dark != light
        page.reload()
        page.wait_for_selector("#theme[title='Theme: dark']")
        assert page.evaluate(paper) == dark


def test_a_cut_is_told_and_what_was_seen_stays(browser: "Browser") -> None:
    context = browser.new_context()
    page = context.new_page()
    with page_at_work(FakeCluster(make_node("a"), validate=False)) as work:
        page.goto(work.link + "#/cluster?as=table")
        page.wait_for_selector("td a:has-text('a')")
        page.wait_for_selector(".link:has-text('live')")
    page.wait_for_selector(".link.cut:has-text('cut off, trying again')")
    assert page.locator("td a").count() == 1
    page.evaluate("location.hash = '#/queue'")
    page.wait_for_selector(".state.bad:has-text('does not answer')")
    context.close()


def test_whoever_has_no_link_is_told_what_to_do(browser: "Browser", small_page: PageAtWork) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(small_page.server.origin)
    assert answer is not None
    assert answer.status == 200
    page.wait_for_selector(".state.bad:has-text('link that was printed')")
    context.close()


def test_another_port_of_the_machine_learns_nothing_that_opens_the_page(
    browser: "Browser", small_page: PageAtWork
) -> None:
    seen: list[dict[str, str]] = []

    class Neighbour(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>neighbour</title>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(small_page.link)
        page.wait_for_selector("#head:has-text('pods placed')")
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        server.shutdown()
        thread.join()
    assert seen
    assert context.cookies() == []
    assert all("cookie" not in each and "authorization" not in each for each in seen)
    assert page.evaluate("localStorage.length") == 0
    # The page itself goes on without its link, in any tab.
    again = context.new_page()
    again.goto(small_page.server.origin)
    again.wait_for_selector("#head:has-text('pods placed')")
    context.close()


def test_a_report_needs_no_server(browser: "Browser", report: Path) -> None:
    link = report.as_uri()
    with opened(browser, link) as page:
        views = {
            "#/cluster": "#cluster-total:has-text('requested')",
            "#/cluster?node=gpu-a1": "aside h2:has-text('gpu-a1')",
            "#/queue": "td b:has-text('node affinity')",
            "#/pod/default/gpu-trainer": "#proposals li",
            "#/pod/default/web-0": ".matrix td.cell",
            "#/story/default/web-0": "td:has-text('bound to')",
            "#/configuration": "td:has-text('PodTopologySpread')",
        }
        for address, shown in views.items():
            page.evaluate("address => { location.hash = address; }", address)
            page.wait_for_selector(shown)
            assert accessibility_problems(page) == [], address
        assert page.locator("footer code").inner_text().startswith("podium config")
