"""`podium simulate --html`: the page's views as one file."""

import json
import re
from pathlib import Path

import pytest
from support.cli.command_line import EXAMPLE, podium
from support.cli.document_schemas import require_valid

from podium.web.report_file import make_report_file
from podium.web.script_bundle import bundle


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
    html = make_report_file(
        {"overview": {"name": "</script><script>alert(1)</script>\u2028"}}
    ).decode()
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
