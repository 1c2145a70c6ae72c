"""The report of `podium study gpu-packing`, as people open it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.commands.command_line import EXAMPLES
from support.commands.document_schemas import require_valid
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.report_files import documents, write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDY = EXAMPLES / "study"
POLICIES = ("Random", "FGD", "BestFit")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two traces, the second of which is a part of the first."""
    folder = tmp_path_factory.mktemp("study")
    part = folder / "part.csv"
    part.write_text("".join((STUDY / "mixed.csv").read_text().splitlines(keepends=True)[:90]))
    return write_report(
        folder / "report.html",
        *("study", "gpu-packing", "--nodes", str(STUDY / "nodes.csv")),
        *("--pods", str(STUDY / "mixed.csv"), "--pods", str(part)),
        *(word for policy in POLICIES for word in ("--policy", policy)),
        *("--seeds", "1-3", "--demand", "110", "--device", "numpy", "--jobs", "1"),
    )


def test_a_report_has_curves_and_differences_to_each_policy(report: Path) -> None:
    found = documents(report)
    for document in found.values():
        require_valid(document)
    study = found["study"]
    assert [trace["name"] for trace in study["traces"]] == ["mixed", "part"]
    assert study["shownPercent"] == [50, 80, 90, 100, 110]
    for trace in study["traces"]:
        policies = {each["policy"]: each for each in trace["policies"]}
        assert set(policies) == set(POLICIES)
        curve = policies["FGD"]["allocation"]
        assert curve["lowest"][100] <= curve["mean"][100] <= curve["highest"][100]
        there, back = gain(policies, "FGD", "BestFit"), gain(policies, "BestFit", "FGD")
        assert there == pytest.approx(-back, abs=1e-4)
        assert "FGD" not in policies["FGD"]["gainPoints"]
    command = shlex.split(found["overview"]["command"])
    assert command[:3] == ["podium", "study", "gpu-packing"]
    assert command[-4:] == ["--seeds", "1-3", "--demand", "110"]


def gain(policies: dict[str, Any], policy: str, base: str) -> float:
    last: float = policies[policy]["gainPoints"][base][-1]["mean"]
    return last


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_study_is_seen_by_trace_and_against_any_policy(
    browser: "Browser", report: Path, width: int, scheme: str
) -> None:
    with opened(browser, report.as_uri(), width=width, scheme=scheme) as page:
        page.wait_for_selector("#gains h2:has-text('difference to FGD')")
        page.wait_for_selector(".chart:has-text('GPU allocated') svg path", state="attached")
        assert "Random is in the table only" in page.locator(".charts").inner_text()
        assert accessibility_problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.select_option("#base", "BestFit")
        page.select_option("#trace", "part")
        page.wait_for_selector("#gains h2:has-text('difference to BestFit')")
        names = page.locator("#gains tbody th").all_inner_texts()
        assert names == ["Random", "FGD"]
        before = page.locator("#allocation tbody").inner_text()
        page.reload()
        page.wait_for_selector("#gains h2:has-text('difference to BestFit')")
        assert page.locator("#allocation tbody").inner_text() == before
        chart = page.locator(".chart", has=page.locator("h2", has_text="Fragmentation"))
        chart.locator("svg path").first.wait_for(state="attached")
        chart.locator(".drawing").press("End")
        last = chart.locator(".tip").inner_text()
        assert last.startswith("asked for 11")
        assert "\nBestFit: " in last
