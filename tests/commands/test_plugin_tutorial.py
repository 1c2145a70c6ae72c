"""The tutorial of plugins: its files are written, its commands run in order, and what the page
shows is what they print."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.commands.command_line import ROOT, podium
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.usefixtures("own_modules")

PAGE = (ROOT / "docs" / "plugins" / "tutorial.md").read_text()


class Block(NamedTuple):
    language: str
    file: str
    text: str


def blocks() -> Iterator[Block]:
    for words, text in re.findall(r"^```([^\n]+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        language, _, file = words.partition(" ")
        yield Block(language, file, text)


def shown(text: str) -> list[tuple[list[str], str]]:
    """Command lines after a prompt, and what follows them."""
    found = re.findall(r"^\$ podium (.+)\n((?:(?!\$ podium).*\n)*)", text, re.MULTILINE)
    return [(shlex.split(command), answer) for command, answer in found]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")


def follow(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Everything that a reader does, but for what runs in a process of its own."""
    left = []
    for block in blocks():
        if block.file:
            Path(block.file).write_text(block.text)
            # Written within a moment: a reader's next command is a process of its own.
            for name in [name for name in sys.modules if name.startswith("podium_user_")]:
                del sys.modules[name]
        elif block.language == "console":
            for words, answer in shown(block.text):
                done = podium(capsys, *words)
                assert done.out + done.err == answer, words
        else:
            left += block.text.splitlines()
    return left


def test_commands_print_what_the_page_shows_and_the_test_passes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = follow(capsys)
    assert [line.split()[0] for line in left] == ["python", "python", "podium"]
    command = [sys.executable, *shlex.split(left[0])[1:], "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


@pytest.mark.slow
def test_the_cluster_of_the_page_goes_on_with_a_changed_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = shlex.split(follow(capsys)[-1])
    log = tmp_path / "up.log"
    with log.open("w") as out:
        command = [sys.executable, "-m", *words, "--port=0"]
        up = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        until(log, "had GPUs that the pod does not want")
        file = Path("gpu_nodes.py")
        file.write_text(file.read_text().replace("had GPUs that", "had GPUs which"))
        until(log, "plugins of gpu_nodes.py are in force as they are now")
        until(log, "had GPUs which the pod does not want")
        up.send_signal(signal.SIGINT)
        assert up.wait(PATIENCE_S) == 0
    finally:
        up.kill()
        up.wait()
    assert "Traceback" not in log.read_text()


def until(log: Path, text: str) -> None:
    wait_until(lambda: text in log.read_text(), log.read_text)
