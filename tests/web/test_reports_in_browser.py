"""Reports of commands as people open them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from support.commands.command_line import node, pod
from support.offline.scenarios.files import document
from support.offline.traces import written_traces
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import HOSTILE_NAME
from support.web.report_files import (
    PACKING,
    SHAPES,
    ZONE,
    hostile_cluster,
    write_list,
    write_report,
)

from podium.web.script_bundle import bundle
from podium.web.static_files import static_files

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MANY = 5_000


class Reports(NamedTuple):
    compare: Path
    what_if: Path
    capacity: Path
    scenario: Path
    scenario_compare: Path
    sweep: Path
    replay: Path
    replay_check: Path
    optimum: Path
    rebalance: Path

    def views(self) -> "Iterator[tuple[Path, str, str]]":
        """File, address, and something that is there once the view has its data."""
        yield self.compare, "#/compare", "table.metrics th:has-text('cpu requested')"
        yield self.compare, "#/pods", "h1:has-text('not alike')"
        yield self.compare, "#/nodes?node=node-1", "#opened-node .pair"
        yield self.what_if, "#/what-if", "#part-stranded td"
        yield self.what_if, "#/node-failures?failure=node-1", "#failure td"
        yield self.what_if, "#/zone-failures", "td:has-text('no')"
        yield self.what_if, "#/cluster?when=before&node=node-1", "aside h2:has-text('node-1')"
        yield self.capacity, "#/capacity", "#add"
        yield self.scenario, "#/scenario", f"h1:text-is('{HOSTILE_NAME}')"
        yield (
            self.scenario_compare,
            "#/compare",
            "table.metrics th:has-text('wait, 99th percentile')",
        )
        yield self.sweep, "#/sweep", "#input"
        yield self.replay, "#/replay", "td span.bad:has-text('only recorded')"
        yield self.replay_check, "#/decisions", "#differences td:has-text('refused')"
        yield self.optimum, "#/optimum", "#placement td"
        yield self.rebalance, "#/rebalance", "#steps li"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp("reports")
    cluster = write_list(folder / "cluster.json", *hostile_cluster())
    configs = ("--config", "default", "--config", PACKING, "--seeds", "3")
    changes = ("--drain", f"{ZONE}=c", "--scale", "deploy/web=9", "--each-node", "--each-zone")
    wanted = ("--of", "kept", "--want", "40", "--shapes", SHAPES)
    days = folder / "days.json"
    days.write_text(json.dumps({**document(duration="1h"), "metadata": {"name": HOSTILE_NAME}}))
    more = write_list(folder / "more.json", pod("more", cpu="9"))
    other = write_list(folder / "other.json", pod("other"))
    trace = hostile_trace(folder / "trace.podium")
    spread = [node("node-1"), node(HOSTILE_NAME), *web_on("node-1", HOSTILE_NAME)]
    for obj in spread:  # as a cluster has stored them; such names are refused otherwise
        obj["metadata"]["resourceVersion"] = "1"
    loose = write_list(folder / "spread.json", *spread)
    return Reports(
        write_report(folder / "compare.html", "compare", *configs, "-f", cluster),
        write_report(folder / "what-if.html", "what-if", "-f", cluster, *changes),
        write_report(folder / "capacity.html", "capacity", "-f", cluster, *wanted),
        write_report(folder / "run.html", "scenario", "run", str(days), "-f", cluster, "--pods"),
        write_report(folder / "days.html", "scenario", "compare", str(days), *configs),
        write_report(
            *(folder / "sweep.html", "sweep", "--cluster", cluster, "--jobs", "1", *configs),
            *("--workload", more, "--workload", other),
        ),
        write_report(folder / "replay.html", "replay", trace, "--config", "default"),
        write_report(folder / "check.html", "replay", trace),
        write_report(folder / "optimum.html", "optimum", "-f", cluster),
        write_report(folder / "rebalance.html", "rebalance", "-f", loose, "--free-nodes", "1"),
    )


def hostile_trace(path: Path) -> str:
    """One pod went where it does not fit; another was placed though it fits nowhere."""
    return written_traces.write_trace(
        path,
        *written_traces.snapshot(
            written_traces.node("n1"), written_traces.node(HOSTILE_NAME, cpu="1")
        ),
        written_traces.put(1.0, written_traces.pod("wide", cpu="2")),
        written_traces.bound(1.5, "wide", HOSTILE_NAME),
        written_traces.put(2.0, written_traces.pod(HOSTILE_NAME, cpu="8")),
        written_traces.bound(2.5, HOSTILE_NAME, "n1"),
        ends_at=10.0,
    )


def web_on(*names: str) -> "Iterator[dict[str, object]]":
    """A pod of a ReplicaSet on each node."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod("web")["spec"]}
    yield {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "web"},
        "spec": {
            "replicas": len(names),
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web"}
    for number, name in enumerate(names):
        made = pod(f"web-{number}", nodeName=name)
        made["metadata"] |= {"labels": labels, "ownerReferences": [{**owner, "controller": True}]}
        yield made


def show(page: "Page", file: Path, address: str, shown: str) -> None:
    if not page.url.startswith(file.as_uri()):
        page.goto(file.as_uri())
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(shown)


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_everybody_can_use_every_view_of_a_report(
    browser: "Browser", reports: Reports, width: int, scheme: str
) -> None:
    with opened(browser, "about:blank", width=width, scheme=scheme) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        for view in reports.views():
            show(page, *view)
            assert accessibility_problems(page) == [], view
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
            assert page.locator("footer code").inner_text().startswith("podium "), view
            assert page.locator("img, main script").count() == 0
        assert set(asked) == {file.as_uri() for file in reports}


def test_configurations_are_told_apart_by_figures(browser: "Browser", reports: Reports) -> None:
    with opened(browser, reports.compare.as_uri()) as page:
        page.locator("#metric-nodes_used").press("Enter")
        page.wait_for_selector(".chart h2:has-text('nodes used, differences to A')")
        assert "metric=nodes_used" in page.url
        assert page.evaluate("document.activeElement.id") == "metric-nodes_used"
        command = page.locator("footer code").inner_text()
        assert command.startswith("podium compare -f ")
        assert command.endswith(f"--config default --config {PACKING} --seeds 3")
        page.reload()
        page.wait_for_selector("#metric-nodes_used[aria-pressed=true]")


def test_a_chart_can_be_read_with_keys_and_as_a_table(browser: "Browser", reports: Reports) -> None:
    with opened(browser, reports.compare.as_uri()) as page:
        chart = page.locator(".chart", has=page.locator("h2", has_text="Requested of allocatable"))
        chart.locator("svg rect").first.wait_for()
        chart.locator(".drawing").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert chart.locator(".tip").inner_text().startswith("cpu\nA default: ")
        assert chart.locator("[aria-live]").inner_text().startswith("cpu, A default: ")
        page.keyboard.press("Escape")
        assert chart.locator(".tip").is_hidden()
        chart.locator("summary").press("Enter")
        assert chart.locator("tbody tr").count() >= 3


def test_moved_pods_are_searched_and_sorted_in_the_address(
    browser: "Browser", reports: Reports
) -> None:
    with opened(browser, reports.what_if.as_uri() + "#/what-if") as page:
        moved = page.locator("#part-moved")
        moved.locator("tbody tr").first.wait_for()
        moved.get_by_role("button", name="Pod").press("Enter")
        assert moved.locator("th[aria-sort=descending]").count() == 1
        moved.locator("input").fill("no such pod")
        page.wait_for_selector("#part-moved p:has-text('Nothing here has')")
        moved.locator("input").fill("web node")
        page.wait_for_selector("#part-moved tbody tr")
        address = page.evaluate("location.hash")
        assert "moved-q=web+node" in address
        assert "moved-sort=pod" in address
        page.reload()
        page.wait_for_selector("#part-moved tbody tr")
        assert moved.locator("input").input_value() == "web node"
        assert "PodDisruptionBudget kept" in page.locator("#part-kept").inner_text()


def test_a_cluster_is_seen_before_a_change_and_after_it(
    browser: "Browser", reports: Reports
) -> None:
    with opened(browser, reports.what_if.as_uri() + "#/cluster") as page:
        after = page.locator("#cluster-total").inner_text()
        page.locator("#when button", has_text="before").press("Enter")
        page.wait_for_function(
            "after => document.querySelector('#cluster-total').textContent !== after", arg=after
        )
        assert "when=before" in page.url
        page.wait_for_selector("#when [aria-pressed=true]:has-text('before'):focus")
        page.locator("canvas").focus()
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        page.wait_for_selector("aside td")


def test_days_are_read_with_keys_and_inputs_chosen(browser: "Browser", reports: Reports) -> None:
    with opened(browser, reports.scenario.as_uri()) as page:
        chart = page.locator(".chart", has=page.locator("h2", has_text="Pods that run"))
        chart.locator("svg path").first.wait_for(state="attached")
        chart.locator(".drawing").focus()
        page.keyboard.press("End")
        assert chart.locator("[aria-live]").inner_text().startswith("after 59.4 min, running: ")
        page.goto(reports.sweep.as_uri())
        page.locator("#input").select_option(index=1)
        page.wait_for_selector("main h2:has-text('other.json')")
        assert "input=" in page.url
        page.locator("#metric-placed").press("Enter")
        assert "metric=placed" in page.url


def test_steps_have_commands_to_copy(browser: "Browser", reports: Reports) -> None:
    with opened(browser, reports.rebalance.as_uri()) as page:
        page.wait_for_selector("#steps li")
        copies = page.locator("#steps li button").all()
        assert [each.get_attribute("aria-label") for each in copies] == [
            f"Copy: {command}" for command in page.locator("#steps li code").all_inner_texts()
        ]
        assert page.locator("#steps li code", has_text="/eviction -f -").count() == 1


def test_failures_open_one_by_one(browser: "Browser", reports: Reports) -> None:
    with opened(browser, reports.what_if.as_uri() + "#/node-failures") as page:
        page.get_by_role("link", name=HOSTILE_NAME).press("Enter")
        page.wait_for_selector("#failure section section")
        assert HOSTILE_NAME in page.locator("#failure h2").first.inner_text()
        assert page.locator("footer code").inner_text().endswith(f"--fail '{HOSTILE_NAME}'")
        page.locator("#close-failure").press("Enter")
        page.wait_for_selector("#failure:empty", state="attached")
        page.locator("#only-lost").press("Enter")
        assert "only=lost" in page.url
        page.keyboard.press("/")
        page.keyboard.type("node-2")
        assert page.locator("main tbody tr").count() == 1


def test_five_thousand_nodes_fit_into_a_report(browser: "Browser", tmp_path: Path) -> None:
    nodes = [node(f"node-{at:05d}", cpu=str(1 + at % 8)) for at in range(MANY)]
    cluster = write_list(tmp_path / "cluster.json", *nodes)
    asked = write_list(tmp_path / "asked.json", pod("api"))
    report = write_report(tmp_path / "capacity.html", "capacity", "-f", cluster, "-f", asked)
    with opened(browser, report.as_uri()) as page:
        page.wait_for_selector("header:has-text('5,000 nodes')")
        assert page.locator("main tbody tr").last.is_visible()
        page.fill("main input[type=search]", "node-0012")
        page.wait_for_selector("[role=status]:has-text('10 of 5,000 nodes')")
        page.locator("canvas").focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_selector("#opened-node:has-text('node-04999 takes 8')")
        assert "node=node-04999" in page.url


def load_charts(page: "Page") -> None:
    """Make functions of the charts known to a page of its own."""
    scripts = {name: file.content.decode() for name, file in static_files().items()}
    scripts["probe.js"] = (
        'import { roundTicks } from "./charts.js";\n'
        'import { lineChart } from "./charts_lines.js";\n'
        "Object.assign(globalThis, { roundTicks, lineChart });\n"
    )
    page.evaluate(bundle(scripts, "probe.js"))


def test_axes_have_round_numbers(browser: "Browser") -> None:
    with opened(browser, "about:blank") as page:
        load_charts(page)
        for low, high, whole, ticks in (
            (0, 0.83, False, [0, 0.25, 0.5, 0.75, 1]),
            (0, 2, True, [0, 1, 2]),
            (0, 13_103, True, [0, 5000, 10000, 15000]),
            (-0.3, 0.5, False, [-0.4, -0.2, 0, 0.2, 0.4, 0.6]),
            (7, 7, False, [6, 8]),
        ):
            asked = "([low, high, whole]) => roundTicks(low, high, 4, whole)"
            assert page.evaluate(asked, [low, high, whole]) == ticks


def test_a_line_has_a_band_and_breaks_where_nothing_is_known(browser: "Browser") -> None:
    chart = {
        "title": "Waiting",
        "x": [0, 1, 2, 3],
        "series": [
            {"name": "A", "values": [1, 2, 3, 4], "low": [0, 1, 2, 3], "high": [2, 3, 4, 5]},
            {"name": "B", "values": [1, None, 3, 4]},
        ],
    }
    with opened(browser, "about:blank") as page:
        load_charts(page)
        page.evaluate(
            "c => document.body.append(lineChart({ ...c, format: String, formatX: String }))", chart
        )
        page.wait_for_selector("svg path >> nth=2", state="attached")
        band, whole, broken = page.locator("svg path").all()
        assert (band.get_attribute("d") or "").endswith("Z")
        assert (whole.get_attribute("d") or "").count("M") == 1
        assert (broken.get_attribute("d") or "").count("M") == 2
        assert page.locator("tbody tr").all_text_contents()[1] == "12\u2013"
