"""`podium rebalance`: what it prints, and its exit codes."""

import sys

import pytest
from support.cli.command_line import ROOT, podium

from podium.what_if import FitPending, FreeNodes, load_cluster

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
    assert sum(1 for each in found.commands if " delete pod " in each) == 2
    assert load_cluster(SHOP).rebalance(FreeNodes(9)).summary["reached"] is False
