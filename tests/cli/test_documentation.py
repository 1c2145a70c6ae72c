"""Commands in the documentation are commands that run."""

import re
import shlex
from pathlib import Path

import pytest

from podium.cli import main

ROOT = Path(__file__).parents[2]


def documented() -> list[str]:
    text = (ROOT / "docs" / "simulating.md").read_text()
    blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("podium ")]


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_runs(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) in (0, 1)
    captured = capsys.readouterr()
    assert captured.out
    assert captured.err == ""


def test_the_makefile_names_pods_of_the_examples() -> None:
    makefile = (ROOT / "Makefile").read_text()
    pods = (ROOT / "examples" / "pods.yaml").read_text()
    placed = re.search(r"^PLACED_POD \?= (\S+)-\d+$", makefile, re.MULTILINE)
    pending = re.search(r"^PENDING_POD \?= (\S+)$", makefile, re.MULTILINE)
    assert placed is not None
    assert pending is not None
    for name in (placed[1], pending[1]):
        assert re.search(rf"^  name: {name}$", pods, re.MULTILINE)
