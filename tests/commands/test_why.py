"""`podium why` from the outside."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands.command_line import EXAMPLE, Write, node, pod, podium, writer


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def tainted(name: str) -> dict[str, Any]:
    taints = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    return {**node(name), "spec": {"taints": taints}}


def test_proposals_are_numbered_with_their_effect_and_their_command(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    done = podium(capsys, "why", "p", "-f", write(tainted("a"), tainted("b"), pod("p")))
    assert done.code == 0
    assert done.err == ""
    assert "gets no node; " in done.out
    assert (
        "1. tolerate gpu=yes:NoSchedule — 2 nodes would fit\n   $ kubectl patch pod/p " in done.out
    )
    assert "2. remove gpu=yes:NoSchedule from node a — 1 node would fit\n" in done.out
    assert "   $ kubectl taint nodes a gpu=yes:NoSchedule-\n" in done.out


def test_a_command_is_one_line_however_long_it_is(
    capsys: pytest.CaptureFixture[str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = podium(capsys, "why", "p", "-f", write(tainted("a"), pod("p")))
    (line,) = [line for line in done.out.splitlines() if "kubectl patch pod/p" in line]
    assert line.endswith("--namespace=default")


def test_a_pod_that_fits_is_told_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "why", "web-0", *EXAMPLE)
    assert done.code == 0
    assert "nothing has to change" in done.out
    assert "What would make it fit" not in done.out


def test_a_pod_for_which_another_leaves_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "why", "render", *EXAMPLE)
    assert done.code == 0
    assert (
        "goes to gpu-b1, once default/sweep-2 made room for it; nothing has to change" in done.out
    )


def test_a_pod_that_nothing_helps_is_told_why(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    going = pod("p")
    going["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x.io/y"]}
    done = podium(capsys, "why", "p", "-f", write(node("a"), going))
    assert done.code == 1
    assert "nothing that was tried helps" in done.out
    assert "a pod that is being deleted gets no node" in done.out


def test_the_others_that_wait_are_placed_first_unless_the_pod_is_alone(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    files = write(node("a"), pod("first", "3"), pod("second", "3"))
    together = podium(capsys, "why", "second", "-f", files, "-o", "json").decoded()
    assert together["fits"] is False
    assert together["proposals"][0]["sentence"] == "lower the cpu request from 3 to 1"
    alone = podium(capsys, "why", "second", "-f", files, "--alone", "-o", "json").decoded()
    assert (alone["fits"], alone["node"]) == (True, "a")


def test_a_pod_that_runs_is_decided_anew(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    running = pod("p", nodeName="a", nodeSelector={"disk": "ssd"})
    done = podium(capsys, "why", "p", "-f", write(node("a"), running))
    assert done.code == 0
    assert "runs on a; decided anew" in done.out
    assert "drop disk=ssd" in done.out


def test_json_and_yaml_hold_the_changes_as_data(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    files = write(tainted("a"), pod("p"))
    told = podium(capsys, "why", "p", "-f", files, "-o", "json").decoded()
    first, second = told["proposals"][:2]
    assert first["code"] == "tolerate-taint"
    assert first["nodes"] == 1
    assert first["node"] == "a"
    assert first["changes"]["podSpec"]["tolerations"][-1]["key"] == "gpu"
    (changed,) = second["changes"]["objects"]
    assert (changed["kind"], changed["metadata"]["name"]) == ("Node", "a")
    assert "taints" not in changed.get("spec", {})
    assert yaml.safe_load(podium(capsys, "why", "p", "-f", files, "-o", "yaml").out) == told


def test_the_screen_shows_as_many_as_are_asked_for_and_wide_tells_more(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    files = write(tainted("a"), pod("p"))
    done = podium(capsys, "why", "p", "-f", files, "--top", "1", "-o", "wide")
    assert "\n1. " in done.out
    assert "\n2. " not in done.out
    assert "more proposal" in done.out
    assert "tolerate-taint, disturbance 20, would go to a" in done.out


def test_where_a_pod_would_move_is_told(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    files = write(
        node("a", labels={"disk": "ssd"}),
        node("b"),
        pod("r", "2", nodeName="a"),
        pod("p", "3", nodeSelector={"disk": "ssd"}),
    )
    done = podium(capsys, "why", "p", "-f", files, "--top", "20")
    assert "move default/r off node a — fits on b as well; then 1 node would fit" in done.out
    told = podium(capsys, "why", "p", "-f", files, "-o", "json").decoded()
    moves = [each["changes"]["move"] for each in told["proposals"] if each["code"] == "move-pods"]
    assert moves == [[{"pod": "default/r", "from": "a", "to": "b"}]]


def test_a_pod_that_is_not_there_is_an_error_of_the_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "why", "nobody", *EXAMPLE)
    assert done.code == 2
    assert "no pod named nobody in the input" in done.err


def test_a_wrong_configuration_is_an_error_of_the_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("kind: Nothing\n")
    done = podium(capsys, "why", "web-0", *EXAMPLE, "--config", str(config))
    assert done.code == 2


def test_hostile_names_are_shown_and_not_obeyed(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    name = "\x1b[2Jx\npodium: fine"
    stored = pod(name)
    stored["metadata"]["resourceVersion"] = "1"
    done = podium(capsys, "why", f"default/{name}", "-f", write(tainted("a"), stored))
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\npodium: fine" not in done.out


def test_why_and_explain_agree_on_a_taint_that_a_comparison_tolerates(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    both = node("a")
    both["spec"] = {
        "taints": [
            {"key": "tier", "value": "5", "effect": "NoSchedule"},
            {"key": "other", "value": "x", "effect": "NoSchedule"},
        ]
    }
    pending = pod("p", tolerations=[{"key": "tier", "operator": "Gt", "value": "3"}])
    pending["metadata"]["resourceVersion"] = "1"  # of a server with the gate
    arguments = ("p", "-f", write(both, pending))
    gate = "--feature-gates=TaintTolerationComparisonOperators=true"

    explained = podium(capsys, "explain", *arguments, gate).out
    proposed = podium(capsys, "why", *arguments, gate).out

    assert "taint other=x:NoSchedule" in explained
    assert "tier" not in explained.split("\n\n")[0]
    assert "tolerate other=x:NoSchedule" in proposed
    assert "tolerate tier=5" not in proposed
