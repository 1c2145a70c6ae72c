"""`podium scenario` as a user calls it."""

import json
from pathlib import Path

import pytest
import yaml
from support.commands.command_line import EXAMPLES, ROOT, podium
from support.offline.scenarios.files import document

from podium.offline.scenarios import list_ready_scenarios


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(duration="1h")))
    return str(path)


def test_a_run_is_told_by_workload_and_over_time(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "scenario", "run", small)
    assert done.code == 0
    assert done.err == ""
    assert "web/pod" in done.out
    assert "WAIT P99" in done.out
    assert "Over time  1h from left to right" in done.out


def test_a_condition_that_holds_is_told_and_is_the_exit_code(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("scenario", "run", small, "--fail-if", "arrived > 0", "--fail-if", "pending > 99")
    done = podium(capsys, *asked, "-o", "json")
    assert done.code == 1
    assert done.decoded()["conditions"] == [
        {"condition": "arrived > 0", "holds": True},
        {"condition": "pending > 99", "holds": False},
    ]
    done = podium(capsys, "scenario", "run", small, "--fail-if", "arived > 0")
    assert done.code == 2
    assert "did you mean arrived?" in done.err


def test_pods_are_in_the_document_when_asked_for(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("scenario", "run", small, "--seed", "5", "--until", "30m", "-o", "json")
    document = podium(capsys, *asked, "--pods").decoded()
    assert document["seed"] == 5
    assert document["durationSeconds"] == 1800
    assert len(document["pods"]) == document["metrics"]["arrived"]
    assert podium(capsys, *asked).decoded()["pods"] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("run", "nowhere.yaml"), "nowhere.yaml: cannot be read: no such file"),
        (("run", "wekday-web"), "no scenario named wekday-web; did you mean weekday-web?"),
        (("show", "nothing"), "no scenario named nothing; there are "),
        (("run", "zone-outage", "--until", "soon"), '--until: "soon" is no length of time'),
        (("run", "zone-outage", "--scale", "0"), "--scale must be above 0"),
    ],
)
def test_what_is_wrong_is_told(
    arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "scenario", *arguments)
    assert done.code == 2
    assert problem in done.err


def test_a_scenario_that_is_shown_is_one_that_can_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = podium(capsys, "scenario", "list").out
    assert all(name in listed for name in list_ready_scenarios())
    mine = tmp_path / "mine.yaml"
    mine.write_text(podium(capsys, "scenario", "show", "zone-outage").out)
    done = podium(capsys, "scenario", "run", str(mine), "--until", "10m", "--scale", "0.2")
    assert done.code == 0


def test_configurations_stand_side_by_side_on_the_same_arrivals(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    packing = str(EXAMPLES / "what-if" / "packing.yaml")
    asked = ("scenario", "compare", small, "--config", "default", "--config", packing)
    done = podium(capsys, *asked, "--seeds", "2", "--fail-if", "arrived > 0")
    assert done.code == 1
    assert "means over 2 seeds; 1h of test" in done.out
    assert "B - A" in done.out
    document = podium(capsys, *asked, "-o", "json").decoded()
    assert [run["configuration"] for run in document["runs"]] == ["default", packing]
    assert document["runs"][0]["metrics"]["arrived"] == document["runs"][1]["metrics"]["arrived"]
    assert podium(capsys, "scenario", "compare", small).code == 2


def test_a_trace_of_another_tool_is_a_scenario_in_the_cluster_that_files_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    imports = ROOT / "examples" / "imports"
    trace, nodes = str(imports / "web.sktrace"), str(imports / "nodes.yaml")
    ran = podium(capsys, "scenario", "run", trace, "-f", nodes, "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["metrics"]["arrived"], found["metrics"]["placed"]) == (0, 7, 7)
    alone = podium(capsys, "scenario", "run", trace)
    assert (alone.code, "name a cluster with -f" in alone.err) == (2, True)
    larger = podium(capsys, "scenario", "run", trace, "-f", nodes, "--scale", "2")
    assert (larger.code, "leave --scale out" in larger.err) == (2, True)
