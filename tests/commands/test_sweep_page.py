"""docs/sweeps.md: its example prints what the page shows, and its tables can be read as it says."""

import re
import shlex
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES, ROOT, podium

from podium.commands.tables import WIDTH_IN_PIPES
from podium.offline.sweeps.dask_executor import CONNECT_S, NO_WORKERS_S
from podium.offline.sweeps.executors import MAX_ATTEMPTS

PAGE = (ROOT / "docs" / "sweeps.md").read_text()
_EXAMPLE = re.compile(
    r"^```console\n\$ podium (?P<command>.+)\n(?P<printed>(?:.*\n)*?)^```$(?:.|\n)*?"
    r"^```python\n(?P<code>(?:.*\n)*?)^```$\n\n^```\n(?P<read>(?:.*\n)*?)^```$",
    re.MULTILINE,
)


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH_IN_PIPES))
    shown = _EXAMPLE.search(PAGE)
    assert shown is not None
    assert podium(capsys, *shlex.split(shown["command"])).out.lstrip("\n") == shown["printed"]
    exec(compile(shown["code"], "docs/sweeps.md", "exec"), {})
    assert capsys.readouterr().out == shown["read"]


def test_the_page_has_the_numbers_of_the_code() -> None:
    assert f"within {CONNECT_S:g} seconds, or that has no workers for {NO_WORKERS_S:g}" in PAGE
    assert MAX_ATTEMPTS == 3
    assert "given up after three deaths" in PAGE
