"""`podium optimum`: what it prints, and its exit codes."""

import sys
from pathlib import Path

import pytest
from support.commands.command_line import ROOT, node, pod, podium, writer

NIGHTLY = str(ROOT / "examples/what-if/nightly.yaml")
PACKING = str(ROOT / "examples/what-if/packing.yaml")


def test_a_better_placement_is_shown_with_the_pods_that_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "optimum", "-f", NIGHTLY, "-o", "json")

    document = done.decoded()
    assert done.code == 1
    assert document["pods"]["placedByScheduler"] == 6
    assert document["pods"]["placedByOptimum"] == 7
    assert document["proven"]
    assert document["resources"]["cpu"] == {
        "unit": "milli",
        "asked": 14000,
        "scheduler": 6000,
        "optimum": 10000,
    }
    assert len(document["different"]) == 3
    assert len(document["placement"]) == 7


def test_a_scheduler_that_cannot_be_bettered_is_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "optimum", "-f", NIGHTLY, "--config", PACKING)

    assert done.code == 0
    assert "✓ no placement is better than the scheduler's, proven" in done.out


def test_without_the_solver_the_command_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)

    done = podium(capsys, "optimum", "-f", NIGHTLY)

    assert done.code == 2
    assert done.out == ""
    assert "the solver HiGHS is not installed" in done.err
    assert "pip install 'podium[optimum]'" in done.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--time-limit", "soon"), '--time-limit "soon" is no time'),
        (("--time-limit", "0s"), '--time-limit "0s" is no time'),
        (("--objective", "cost", "--prices", "x"), "x is no price of nodes"),
    ],
)
def test_wrong_options_are_refused(
    options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "optimum", "-f", NIGHTLY, *options)

    assert done.code == 2
    assert told in done.err


def test_nodes_without_a_price_cannot_be_compared_by_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = writer(tmp_path)(node("n1"), pod("p"))

    done = podium(capsys, "optimum", "-f", path, "--objective", "cost")

    assert done.code == 2
    assert "node n1 has no price" in done.err


def test_shares_of_gpus_are_bounded_by_what_cards_have_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gpu = ROOT / "examples/gpu"
    files = ("-f", str(gpu / "nodes.yaml"), "-f", str(gpu / "pods.yaml"))

    done = podium(capsys, "optimum", *files, "--config", str(gpu / "scheduler.yaml"), "-o", "json")

    document = done.decoded()
    assert document["resources"]["GPU cores"] == {
        "unit": "count",
        "asked": 290,
        "scheduler": 260,
        "optimum": 260,
    }
    assert document["boundIgnores"] == ["how shares of GPUs lie on single cards"]
    assert document["checked"]


def test_a_cluster_without_pending_pods_has_nothing_to_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "optimum", "-f", writer(tmp_path)(node("n1")))

    assert done.code == 0
