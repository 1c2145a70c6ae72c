"""The pages about plugins of the collection show what their commands print."""

import re
import shlex
from pathlib import Path

import pytest

from podium.commands import main
from podium.user_code.shipped import SHIPPED_PLUGINS

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "plugins").glob("*.md"))
COMMAND_AND_OUTPUT = re.compile(r"^```\n(podium [^\n]+)\n```\n\n```text\n(.+?)^```$", re.M | re.S)
SHOWN = {page.name: COMMAND_AND_OUTPUT.findall(page.read_text()) for page in PAGES}


@pytest.mark.parametrize("page", [name for name, shown in SHOWN.items() if shown])
def test_commands_print_what_the_page_shows(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "150")
    for command, output in SHOWN[page]:
        assert main(shlex.split(command)[1:]) in (0, 1)
        printed = capsys.readouterr()
        assert printed.err == ""
        for line in output.splitlines():
            assert " ".join(line.split()) in " ".join(printed.out.split())


def test_every_plugin_has_a_page() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    for name in sorted(SHIPPED_PLUGINS):
        assert re.search(rf"\b{name}\b", text), name


def test_files_that_pages_name_are_there() -> None:
    for page in PAGES:
        for name in re.findall(r"examples/[\w./-]*\w", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name}: {name}"
