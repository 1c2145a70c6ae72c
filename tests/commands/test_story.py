"""`podium story` from the outside."""

from pathlib import Path

import pytest
import yaml
from support.commands.command_line import EXAMPLE, Write, node, pod, podium, writer


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def test_a_preemptor_tells_its_story_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "render", *EXAMPLE)
    assert (done.code, done.err) == (0, "")
    story = done.out[done.out.index("TIME") :]
    told = (
        "queued",
        "attempt 1",
        "no node fits, because of NodeResourcesFit (6 nodes), NodeUnschedulable (1 node)",
        "0/7 nodes are available",
        "evicts default/sweep-2 to make room on gpu-b1",
        "AssignedPodDelete: Pod default/sweep-2",
        "NodeResourcesFit had rejected it and waited for that",
        "attempt 2",
        "goes to gpu-b1, which it was nominated for",
        "to gpu-b1",
    )
    places = [story.index(words) for words in told]
    assert places == sorted(places)
    assert "bound to gpu-b1 after 2 attempts and 0.013 s" in done.out


def test_a_choice_is_told_with_its_score_and_wide_with_every_plugins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "story", "web-0", *EXAMPLE)
    assert "goes to general-c1 with 461 points: one of 2 best among 4 that fit" in done.out
    assert "TaintToleration 300" not in done.out
    wide = podium(capsys, "story", "web-0", *EXAMPLE, "-o", "wide")
    assert "TaintToleration 300, NodeResourcesFit 88" in wide.out


def test_a_pod_without_a_node_has_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "gpu-trainer", *EXAMPLE)
    assert done.code == 1
    assert "✗ no node fits, after 1 attempt" in done.out


def test_a_gated_pod_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "report", *EXAMPLE)
    assert done.code == 1
    assert "held back, never tried" in done.out
    assert "waiting for scheduling gates: [example.com/quota-approved]" in done.out


def test_a_running_pod_that_is_evicted_has_a_story(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "sweep-2", *EXAMPLE)
    assert done.code == 1
    assert "ran on gpu-b1, evicted for default/render" in done.out
    assert "default/render takes its place" in done.out


def test_a_running_pod_that_stays_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "cache-0", *EXAMPLE)
    assert done.code == 0
    assert "runs on general-b1 from beginning to end; nothing happens to it" in done.out
    assert "TIME" not in done.out


def test_a_pod_of_another_scheduler_says_so(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    done = podium(capsys, "story", "p", "-f", write(node(), pod("p", schedulerName="other")))
    assert done.code == 1
    assert "asks for scheduler other" in done.out


def test_json_has_decisions_beside_the_lines_and_yaml_says_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = podium(capsys, "story", "render", *EXAMPLE, "-o", "json").decoded()
    assert (document["outcome"], document["node"], document["attempts"]) == ("placed", "gpu-b1", 2)
    first, second = [line["attempt"] for line in document["story"] if line["attempt"]]
    assert first["rejectedBy"] == {"NodeResourcesFit": 6, "NodeUnschedulable": 1}
    assert first["evicts"] == ["default/sweep-2"]
    assert (first["nominatedNode"], second["node"]) == ("gpu-b1", "gpu-b1")
    done = podium(capsys, "story", "render", *EXAMPLE, "-o", "yaml")
    assert yaml.safe_load(done.out) == document


def test_json_of_running_pods_tells_them_apart(capsys: pytest.CaptureFixture[str]) -> None:
    evicted = podium(capsys, "story", "sweep-2", *EXAMPLE, "-o", "json").decoded()
    assert (evicted["outcome"], evicted["node"]) == ("evicted", None)
    assert evicted["evictedFor"] == "default/render"
    stays = podium(capsys, "story", "cache-0", *EXAMPLE, "-o", "json").decoded()
    assert (stays["outcome"], stays["node"], stays["story"]) == ("running", "general-b1", [])


def test_an_unknown_pod_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "story", "rendr", *EXAMPLE)
    assert done.code == 2
    assert "did you mean render?" in done.err
    assert done.out == ""


def test_permit_and_failed_bindings_are_told(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    plugin = tmp_path / "patience.py"
    plugin.write_text(
        "from podium.plugin import Code, PermitPlugin, PermitResult, Status\n"
        "class Patience(PermitPlugin):\n"
        "    name = 'Patience'\n"
        "    def permit(self, cycle, node_name):\n"
        "        return PermitResult(Status(Code.WAIT), 5.0)\n"
    )
    path = write(node(), pod("p"))
    done = podium(capsys, "story", "p", "-f", path, "--plugin", str(plugin))
    assert done.code == 1
    assert "Patience wants it to wait, on n1" in done.out
    assert "rejected due to timeout after waiting 5s at plugin Patience" in done.out
    assert f"plugin Patience ({plugin}) is not in the configuration" in done.out
