"""The pages about plugins of the collection show what their commands print."""

import re
import shlex
from pathlib import Path

import pytest

from podium.cli import main
from podium.scheduler_plugins import COLLECTION

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "plugins").glob("*.md"))
COMMAND_AND_OUTPUT = re.compile(r"^```\n(podium .+)\n```\n\n```text\n(.+?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "150")
    shown = COMMAND_AND_OUTPUT.findall(page.read_text())
    assert shown, "a page has an example with its output"
    for command, output in shown:
        assert main(shlex.split(command)[1:]) in (0, 1)
        printed = capsys.readouterr()
        assert printed.err == ""
        for line in output.splitlines():
            assert " ".join(line.split()) in " ".join(printed.out.split())


def test_every_plugin_has_a_page() -> None:
    titles = "\n".join(page.read_text().partition("\n")[0] for page in PAGES)
    for name in COLLECTION:
        assert re.search(rf"\b{name}\b", titles), name


def test_files_that_pages_name_are_there() -> None:
    for page in PAGES:
        for name in re.findall(r"examples/[\w./-]*\w", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name}: {name}"
