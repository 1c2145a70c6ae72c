"""Devices in what commands show: how many are in use, and what a strategy makes of it."""

import re

import pytest
from support.commands.command_line import EXAMPLES, ROOT, podium

DEVICES = EXAMPLES / "devices"
CLUSTER = ("-f", str(DEVICES / "cluster.yaml"))
MOST = ("--config", str(DEVICES / "most-allocated.yaml"))
PAGE = (ROOT / "docs" / "plugins" / "device-scoring.md").read_text()


def test_the_page_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    found = re.findall(r"^\$ podium ([^\n]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == 2
    for command, printed in found:
        assert podium(capsys, *command.split()).out == printed


def test_documents_have_the_devices_of_every_node_that_fits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = podium(capsys, "explain", "training", *CLUSTER, *MOST, "-o", "json").decoded()
    nodes = document["attempts"][-1]["nodes"]
    assert {node["name"]: node["devices"] for node in nodes} == {
        "node-a": {"gpu.example.com": {"inUse": 0, "total": 4}},
        "node-b": {"gpu.example.com": {"inUse": 2, "total": 4}},
        "node-c": {"gpu.example.com": {"inUse": 3, "total": 4}},
    }
    assert document["node"] == "node-c"


def test_the_node_table_counts_devices_before_and_after(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    printed = podium(capsys, "simulate", *CLUSTER, *MOST).out
    assert "gpu.example.com devices" in printed
    assert "3 → 4 of 4" in printed
    assert "5 → 6 of 12" in printed


def test_a_job_gets_devices_that_lie_together_and_near_its_other_pods(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = ("-f", str(DEVICES / "numa-cluster.yaml"))
    near = ("--config", str(DEVICES / "near.yaml"))
    assert podium(capsys, "explain", "train-2", *cluster, *MOST, "-o", "json").decoded()[
        "node"
    ] == ("node-a")
    assert (
        podium(capsys, "explain", "train-2", *cluster, *near, "-o", "json").decoded()["node"]
        == "node-c"
    )
