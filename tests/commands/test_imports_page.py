"""docs/imports.md: its commands run, and print what it shows."""

import re
import shlex
from pathlib import Path

import pytest
from support.commands.command_line import ROOT, podium

from podium.commands.tables import WIDTH_IN_PIPES
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.timed_imports import load_timed_imports

PAGE = (ROOT / "docs" / "imports.md").read_text()
_SHOWN = re.compile(r"^```console\n\$ podium (.+)\n((?:.*\n)*?)^```$", re.MULTILINE)
_CODE = re.compile(r"^```python\n((?:.*\n)*?)^```$", re.MULTILINE)
_LEFT_OUT = "...\n"


@pytest.fixture(autouse=True)
def _beside_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory to write into in which the examples are where the page has them."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH_IN_PIPES))


@pytest.mark.parametrize(("command", "answer"), _SHOWN.findall(PAGE))
def test_a_command_prints_what_the_page_shows(
    command: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = podium(capsys, *shlex.split(command))
    if answer != _LEFT_OUT:
        assert printed.out.lstrip("\n") == answer
    assert printed.out


def test_the_code_gives_events_in_order_of_time() -> None:
    (code,) = _CODE.findall(PAGE)
    assert "load_timed_imports" in code
    paths = re.findall(r'"(examples/[^"]+)"', code)
    cluster, events = load_timed_imports(paths, gates=FeatureGates())
    assert len(cluster.nodes) == 2
    times = [event.at for event in events]
    assert times == sorted(times)
    assert times[-1] == 600
