"""`podium rebalance`: what it prints, and its exit codes."""

import json
import sys
from pathlib import Path

import pytest
from support.commands.command_line import ROOT, podium

from podium.commands.rebalance_view import show_rebalance
from podium.commands.tables import Screen
from podium.offline.what_if import FitPending, FreeNodes, load_cluster
from podium.offline.what_if.rebalance_answer import GoalMeasure, RebalanceAnswer, RebalanceMove

SHOP = str(ROOT / "examples/what-if/shop.yaml")
RENDER = str(ROOT / "examples/what-if/render.yaml")


def test_a_goal_that_is_reached_is_a_yes_with_its_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "rebalance", "-f", SHOP, "--free-nodes", "1", "-o", "json")

    document = done.decoded()
    assert done.code == 0
    assert document["reached"]
    assert document["moves"] == document["fewestMoves"] == 1
    (step,) = document["steps"]
    assert document["commands"] == [f"kubectl cordon {step['from']}", *step["commands"]]


def test_a_goal_out_of_reach_is_a_no_that_says_how_near_it_came(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "rebalance", "-f", SHOP, "--free-nodes", "5")

    assert done.code == 1
    assert "empty nodes: 0 → 3, wanted 5; 3 moves" in done.out
    assert "more than 3 no moves can reach" in done.out
    assert "PodDisruptionBudget db lets no more pods go" in done.out


def tainted_pool(folder: Path) -> str:
    """Three nodes that nobody here tolerates."""
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"gpu-{number}"},
            "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": 110}},
        }
        for number in range(3)
    ]
    path = folder / "gpu.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    return str(path)


def test_nodes_that_no_pod_may_use_are_neither_free_nor_empty(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pool = tainted_pool(tmp_path)
    left_out = "left out, since no pod here may use them: gpu-0, gpu-1, gpu-2"

    freed = podium(capsys, "rebalance", "-f", SHOP, "-f", pool, "--free-nodes", "3")
    evened = podium(capsys, "rebalance", "-f", SHOP, "-f", pool, "--lower-skew", "cpu")
    alone = podium(capsys, "rebalance", "-f", SHOP, "--lower-skew", "cpu")

    assert "empty nodes: 0 → 3, wanted 3; 3 moves" in freed.out
    assert left_out in freed.out
    assert left_out in evened.out
    assert alone.out.splitlines()[-6] in evened.out.splitlines()
    assert "100%" not in evened.out


def test_nodes_that_are_empty_already_are_said_to_count(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pool = Path(tainted_pool(tmp_path))
    pool.write_text(pool.read_text().replace("NoSchedule", "PreferNoSchedule"))

    done = podium(capsys, "rebalance", "-f", SHOP, "-f", str(pool), "--free-nodes", "3")

    assert done.code == 0
    assert "empty nodes: 3 → 3, wanted 3; nothing to move" in done.out
    assert "these are empty already, and count" in done.out


def test_bounds_that_say_nothing_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """What the solver does not know, it takes for possible without a single move."""
    answer = RebalanceAnswer(
        goal="fit pending pods",
        reached=False,
        measure=GoalMeasure("pods that wait", "less", before=28, after=12, wanted=0, bound=0),
        cordoned=(),
        left_out=(),
        steps=(RebalanceMove("default/web-0", "n0", "n1", (), (), ()),),
        commands=(),
        moves=1,
        fewest_moves=None,
        kept=(),
        given_up=("no",),
        time_limit_s=30,
        timed_out=False,
    )

    show_rebalance(answer, Screen(), show_all=False)

    out = capsys.readouterr().out
    assert "pods that wait: 28 → 12, wanted 0; 1 move\n" in out
    assert "less than 0" not in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "there is no goal"),
        (("--free-nodes", "1", "--fit-pending"), "there are several goals"),
        (("--free-nodes", "0"), "--free-nodes must be at least 1"),
        (("--skew", "cpu"), "is no limit of a skew"),
        (("--lower-skew", "example.com/none"), "no node that takes pods has example.com/none"),
        (("--fit-pending", "--by", "zone"), "--by is about --skew"),
        (("--fit-pending", "--max-moves", "-1"), "--max-moves cannot be negative"),
    ],
)
def test_wrong_options_are_refused(
    options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "rebalance", "-f", SHOP, *options)

    assert done.code == 2
    assert told in done.err


def test_without_the_solver_the_command_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)

    done = podium(capsys, "rebalance", "-f", SHOP, "--fit-pending")

    assert done.code == 2
    assert "pip install 'podium[optimum]'" in done.err


def test_a_model_gives_the_moves_as_records() -> None:
    found = load_cluster(SHOP, RENDER).rebalance(FitPending())

    assert found.summary["reached"]
    assert found.summary["moves"] == len(found.moves) == 2
    assert sum(1 for each in found.commands if "/eviction" in each) == 2
    assert load_cluster(SHOP).rebalance(FreeNodes(9)).summary["reached"] is False
