"""Every command that reads a file reads it up to a bound and says what is wrong with it."""

from pathlib import Path

import pytest
from support.cli.command_line import node, podium, writer

FILES = [
    ("simulate", "-f"),
    ("explain", "x", "-f"),
    ("why", "x", "-f"),
    ("story", "x", "-f"),
    ("simulate", "-f", "input.json", "--config"),
    ("config", "check"),
    ("config", "show"),
    ("config", "convert"),
    ("bench", "--file"),
    ("bench", "--workload", "basic", "--compare"),
    ("bench", "scaling", "--write"),
    ("nodes", "--template"),
    ("nodes", "--stages"),
    ("nodes", "--kubeconfig"),
    ("up", "--port", "0", "-f"),
    ("parity",),
    ("run", "--config"),
    ("run", "--write-config-to", "out", "--kubeconfig"),
    ("apiserver", "--port", "0", "--token-file"),
]


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writer(tmp_path)(node())
    monkeypatch.setattr("podium.simulator.input_files.MAX_CLUSTER_BYTES", 1 << 20)
    monkeypatch.setattr("podium.cli.bench.MAX_CLUSTER_BYTES", 1 << 20)
    monkeypatch.setattr("podium.parity.cases.MAX_CASE_BYTES", 1 << 20)


@pytest.mark.parametrize("command", FILES, ids=" ".join)
def test_a_device_without_an_end_is_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *command, "/dev/zero")
    assert done.code in (1, 2)
    told = done.out + done.err
    assert "/dev/zero" in told
    assert "larger than" in told or "file too large" in told
    assert "Traceback" not in told


def test_code_of_plugins_is_read_up_to_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rule.py").symlink_to("/dev/zero")
    done = podium(capsys, "simulate", "-f", "input.json", "--plugin", "rule.py")
    assert done.code == 2
    assert "rule.py: larger than 16 MiB" in done.err


@pytest.mark.parametrize("command", [("bench", "--file"), ("bench", "--compare")], ids=" ".join)
def test_deeply_nested_results_are_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("deep.json").write_text('{"a":' * 100_000)
    done = podium(capsys, *command, "deep.json")
    assert done.code == 2
    assert done.err.startswith("podium: deep.json: not ")
    assert "Traceback" not in done.err
