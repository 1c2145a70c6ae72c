"""`podium simulate --html`: the page's views as one file."""

import re
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLE, podium
from support.commands.document_schemas import require_valid
from support.web.report_files import documents

from podium.web.report_file import ReportOverview, ReportView, make_report_file
from podium.web.script_bundle import bundle


def test_it_holds_what_the_views_ask_for(report: Path) -> None:
    found = documents(report)
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


def test_names_cannot_end_the_script_that_holds_them(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    hostile = ReportOverview(command="</script><script>alert(1)</script>\u2028", facts=())
    file.write_bytes(make_report_file({"overview": hostile}))
    assert "<script>alert" not in file.read_text()
    assert documents(file)["overview"]["command"] == "</script><script>alert(1)</script>\u2028"


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


def test_comments_go_and_what_stands_behind_them_stays() -> None:
    source = "/**\n * What it is.\n */\n/** @type {X} */ (a).call();\n/** b */\nconst b = 2;\n"
    assert "(a).call();\nconst b = 2;\n" in bundle({"main.js": source})
    assert "What it is" not in bundle({"main.js": source})


def test_a_report_has_the_views_that_it_is_made_with() -> None:
    view = ReportView("compare", "Compare", "compare.js", "showCompare")
    with_view, without = make_report_file({}, [view]).decode(), make_report_file({}).decode()
    assert '"compare": { title: "Compare", show: showCompare' in with_view
    assert "showCompare" not in without
