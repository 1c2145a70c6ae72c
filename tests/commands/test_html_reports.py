"""`--html` of commands: one file with all that its views need."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES, node, pod, podium, writer
from support.commands.document_schemas import require_valid
from support.web.report_files import documents

from podium.commands import replay_view, scenario_view, what_if_view
from podium.web import cluster_snapshot, comparison_view

FOLDER = EXAMPLES / "what-if"
SHOP = ("-f", str(FOLDER / "shop.yaml"))
COMPARE = (
    *("compare", *SHOP, "-f", str(FOLDER / "render.yaml")),
    *("--config", "default", "--config", str(FOLDER / "packing.yaml"), "--seeds", "2"),
    *("--seed", "7", "--prices", "!disk:0.20", "--fail-if", "pending > 3"),
)
WHAT_IF = (
    *("what-if", *SHOP, "--drain", "worker-5", "--scale", "deploy/web=14"),
    *("--each-node", "--each-zone", "--feature-gates", "GenericWorkload=true"),
)
CAPACITY = (
    *("capacity", *SHOP, "-f", str(FOLDER / "api.yaml"), "--of", "deployment/web"),
    *("--want", "40", "--shapes", str(FOLDER / "shapes.yaml")),
)
PACKING = str(FOLDER / "packing.yaml")
SCENARIO = (
    *("scenario", "run", "noisy-neighbours", "--until", "10m", "--seed", "0", "--scale", "0.5"),
    *("--config", PACKING, "--pods", "--fail-if", "arrived > 0"),
)
SCENARIO_COMPARE = (
    *("scenario", "compare", "noisy-neighbours", "--until", "5m", "--seeds", "2"),
    *("--config", "default", "--config", PACKING, "--fail-if", "arrived > 0"),
)
SWEEP = (
    *("sweep", *SHOP, "--config", "default", "--config", PACKING, "--seeds", "2", "--jobs", "1"),
    *("--workload", str(FOLDER / "render.yaml"), "--workload", str(FOLDER / "api.yaml")),
)
REPLAY = (
    "replay",
    str(EXAMPLES / "traces" / "evening.podium"),
    "--config",
    PACKING,
    "--from",
    "1s",
)
REPLAY_CHECK = (*REPLAY, "--as-recorded")
OPTIMUM = ("optimum", "-f", str(FOLDER / "nightly.yaml"), "--objective", "nodes")
REBALANCE = ("rebalance", *SHOP, "--free-nodes", "1", "--max-moves", "3")
COMMANDS = pytest.mark.parametrize(
    "command",
    [
        *(COMPARE, WHAT_IF, CAPACITY, SCENARIO, SCENARIO_COMPARE, SWEEP, REPLAY, REPLAY_CHECK),
        *(OPTIMUM, REBALANCE),
    ],
    ids=lambda command: command[0],
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


@COMMANDS
def test_a_report_is_one_private_file_and_its_command_tells_the_same(
    command: tuple[str, ...], report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = podium(capsys, *command)
    told = podium(capsys, *command, "--html", str(report))
    assert told == plain
    again = shlex.split(documents(report)["overview"]["command"])
    assert again.pop(0) == "podium"
    assert podium(capsys, *again) == told

    html = report.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r'\b(src|href|on\w+)="(?!#)', html.partition("report-data")[0])
    assert report.stat().st_mode & 0o077 == 0
    for document in documents(report).values():
        require_valid(document)


def test_a_comparison_says_where_pods_go_and_why(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    podium(capsys, *COMPARE, "--html", str(report))
    view = documents(report)["comparison-view"]
    pods = {each["pod"]: each["places"] for each in view["pods"]}
    pending, placed = pods["default/render-0"]
    assert pending["node"] is None
    assert pending["why"].startswith("0/5 nodes are available")
    assert placed["node"]
    assert re.search(r" ahead of worker-\d$|only node that fits$", placed["why"])

    cpu = view["resources"][0]
    assert cpu["name"] == "cpu"
    simulated = podium(capsys, "simulate", *COMPARE[1:5], "--seed", "7", "-o", "json").decoded()
    after = {each["name"]: each["requested"]["cpu"]["after"] for each in simulated["nodes"]}
    assert dict(zip(view["nodes"], cpu["after"][0], strict=True)) == after


def test_a_change_is_shown_before_and_after(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    podium(capsys, *WHAT_IF, "--html", str(report))
    found = documents(report)
    before, after = found["before/nodes/worker-5"], found["nodes/worker-5"]
    assert (before["unschedulable"], after["unschedulable"]) == (False, True)
    assert (before["podCount"], after["podCount"]) == (3, 1)
    failures = found["node-failures"]["failures"]
    lost = [each["stranded"] + each["gone"] for each in failures]
    assert lost == sorted(lost, reverse=True)
    for each in failures:
        detail = found[f"node-failures/{each['name']}"]
        assert [len(detail[part]) for part in ("moved", "stranded", "gone")] == [
            each[part] for part in ("moved", "stranded", "gone")
        ]


def test_a_report_is_bounded_and_says_what_it_leaves_out(
    report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_if_view, "MAX_PODS", 1)
    monkeypatch.setattr(what_if_view, "MAX_DETAIL", 4)
    monkeypatch.setattr(cluster_snapshot, "MAX_NODES", 2)
    monkeypatch.setattr(comparison_view, "MAX_PODS", 1)
    podium(capsys, *WHAT_IF, "--html", str(report))
    found = documents(report)
    stranded = found["what-if"]["stranded"]
    assert len(stranded) == 1 < found["overview"]["totals"]["stranded"]
    assert count(found, "nodes/") == 2
    assert "nodes/worker-5" in found
    assert 0 < count(found, "node-failures/") < len(found["node-failures"]["failures"])

    podium(capsys, *COMPARE, "--html", str(report))
    view = documents(report)["comparison-view"]
    assert len(view["pods"]) == 1 < view["differentPods"]


def test_a_run_of_a_scenario_is_told_over_time(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    podium(capsys, *SCENARIO, "--html", str(report))
    shown = documents(report)["scenario"]
    printed = podium(capsys, *SCENARIO, "-o", "json").decoded()
    assert shown == printed
    assert shown["samples"]
    assert shown["pods"]


def test_only_what_differs_from_a_recording_is_listed(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    podium(capsys, *REPLAY, "--html", str(report))
    replayed = documents(report)["replay"]
    assert {each["outcome"] for each in replayed["pods"]} == {"moved"}
    assert len(replayed["pods"]) == replayed["outcomes"]["moved"]
    podium(capsys, *REPLAY_CHECK, "--html", str(report))
    checked = documents(report)["replay-check"]
    assert len(checked["decisions"]) == checked["verdicts"]["lower"]


def test_runs_are_left_out_by_seed_so_that_configurations_stay_side_by_side(
    report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario_view, "MAX_RUNS", 5)
    podium(capsys, *SWEEP, "--html", str(report))
    found = documents(report)
    kept = [(each["input"], each["configuration"]) for each in found["sweep"]["runs"]]
    assert len({*kept}) == len(kept) == 4
    assert found["overview"]["totals"]["runs"] == 8

    monkeypatch.setattr(replay_view, "MAX_ROWS", 3)
    podium(capsys, *REPLAY, "--html", str(report))
    found = documents(report)
    assert len(found["replay"]["pods"]) == 3 < found["overview"]["totals"]["pods"]


def count(found: dict[str, Any], prefix: str) -> int:
    return sum(path.startswith(prefix) for path in found)


def test_a_report_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *CAPACITY, "--html", str(tmp_path / "no" / "such" / "place.html"))
    assert done.code == 2
    assert "place.html" in done.err


def test_a_gang_may_have_a_name_with_a_slash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A label that a server has stored is taken as it is."""
    member = pod("member")
    member["metadata"] |= {
        "labels": {"scheduling.x-k8s.io/pod-group": "team/train"},
        "resourceVersion": "1",
    }
    files = writer(tmp_path)(node(), member)
    target = tmp_path / "report.html"

    done = podium(capsys, "simulate", "-f", files, "--html", str(target))

    assert done.code == 0, done.err
    found = documents(target)["gangs/default/team/train"]
    assert (found["namespace"], found["name"]) == ("default", "team/train")
