"""`podium bench extender`, on calls too small to say anything about speed."""

import json

import pytest

from podium.commands import main

TINY = ("--nodes", "3", "--pods", "2", "--repeat", "1")


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--whole-nodes",)])
def test_figures_come_as_json(capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    assert main(["bench", "extender", *TINY, *more, "--json"]) == 0
    (figures,) = json.loads(capsys.readouterr().out)["items"]
    assert (figures["nodes"], figures["pods"]) == (3, 2)
    assert figures["whole_nodes"] is bool(more)
    assert 0 < figures["p50_ms"] <= figures["p99_ms"]


@pytest.mark.slow
def test_figures_come_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "extender", *TINY]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "filter and prioritize, names of 3 nodes, the best of 1 runs" in text
    assert "ms of the scheduler's CPU time" in text


def test_counts_are_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "extender", "--pods", "0"]) == 2
    assert "must be at least 1" in capsys.readouterr().err
