"""`podium simulate --html`: the page's views as one file."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cli.command_line import EXAMPLE, podium
from support.cli.document_schemas import require_valid
from support.web.accessibility import accessibility_problems
from support.web.browser import opened

from podium.web.report import embed
from podium.web.script_bundle import bundle

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    target = tmp_path / "report.html"
    run = podium(capsys, "simulate", *EXAMPLE, "--html", str(target))
    assert run.code == 1
    assert "without a node" in run.out
    return target


def documents(html: str) -> dict[str, dict[str, object]]:
    found = re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    decoded: dict[str, dict[str, object]] = json.loads(found[1])
    return decoded


def test_it_holds_what_the_views_ask_for(report: Path) -> None:
    found = documents(report.read_text())
    assert {"overview", "cluster", "queue", "configuration", "pods"} <= found.keys()
    for document in found.values():
        require_valid(document)
    why = found["pods/default/gpu-trainer/analysis"]
    assert why["kind"] == "PodAnalysis"
    assert why["proposals"]


def test_it_loads_nothing_and_runs_nothing_else(report: Path) -> None:
    html = report.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r'\b(src|href)="(?!#)', html.partition("report-data")[0])


def test_the_same_input_gives_the_same_bytes(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again.html"
    podium(capsys, "simulate", *EXAMPLE, "--html", str(again))
    assert again.read_bytes() == report.read_bytes()


def test_names_cannot_end_the_script_that_holds_them() -> None:
    html = embed({"overview": {"name": "</script><script>alert(1)</script>\u2028"}}).decode()
    assert "<script>alert" not in html
    assert documents(html)["overview"]["name"] == "</script><script>alert(1)</script>\u2028"


def test_modules_keep_their_names_to_themselves() -> None:
    one = bundle(
        {
            "main.js": 'import { give } from "./other.js";\nconst same = give();\n',
            "other.js": "const same = 1;\nexport function give() {\n  return same;\n}\n",
        }
    )
    assert one.index("module_other = ") < one.index("module_main = ")
    assert "const { give } = module_other;" in one
    assert "import" not in one
    assert "export" not in one


def test_a_browser_shows_it_without_a_server(browser: "Browser", report: Path) -> None:
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
