"""The pages about what would be: their commands print what the pages show."""

import re
import shlex

import pytest
from support.commands.command_line import ROOT, podium

from podium.commands.tables import WIDTH_IN_PIPES

PAGES = (
    *("capacity.md", "what-if.md", "compare.md", "scenarios.md", "record-and-replay.md"),
    *("optimum.md", "rebalance.md"),
)
_SHOWN = re.compile(r"^```console\n\$ podium (.+)\n((?:.*\n)*?)^```$", re.MULTILINE)


def shown() -> list[tuple[str, str]]:
    return [found for page in PAGES for found in _SHOWN.findall((ROOT / "docs" / page).read_text())]


@pytest.mark.parametrize(("command", "answer"), shown())
def test_a_command_prints_what_the_page_shows(
    command: str,
    answer: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", str(WIDTH_IN_PIPES))
    printed = podium(capsys, *shlex.split(command))
    assert printed.out.lstrip("\n") == answer


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_what_its_commands_print(page: str) -> None:
    assert _SHOWN.search((ROOT / "docs" / page).read_text())
