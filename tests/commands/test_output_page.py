"""`docs/output.md` names every kind, and its examples answer what they say."""

import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

import pytest
from support.commands.command_line import ROOT, podium
from support.commands.document_schemas import kinds
from support.suite import requirements

from podium.commands.app import build_app

PAGE = (ROOT / "docs" / "output.md").read_text()
JQ = shutil.which("jq")


class Example(NamedTuple):
    command: str
    program: str
    answer: str


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def answered() -> list[Example]:
    found = re.findall(
        r"^\$ podium (.+?) \| jq (.+)\n((?:[^$].*\n)*)", "".join(fenced("console")), re.M
    )
    return [Example(*each) for each in found]


def unanswered() -> list[list[str]]:
    lines = "".join(fenced("sh")).splitlines()
    return [line.split(" | jq ") for line in lines]


def test_every_kind_is_named_with_its_schema() -> None:
    linked = re.findall(r"\[(\w+)\]\(schemas/(\w+)\.json\)", PAGE)
    assert all(kind == file for kind, file in linked)
    assert {kind for kind, _ in linked} == kinds()


@requirements.JQ.skip_unless(JQ)
@pytest.mark.parametrize("example", answered(), ids=lambda example: example.command)
def test_an_example_answers_what_the_page_says(
    example: Example, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    printed = podium(capsys, *shlex.split(example.command)).out
    command = [str(JQ), *shlex.split(example.program)]
    found = subprocess.run(command, input=printed, capture_output=True, text=True, check=True)
    assert found.stdout == example.answer


@pytest.mark.parametrize("command", [command for command, _ in unanswered()])
def test_an_example_without_an_answer_is_a_command_line_that_exists(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "podium":
        build_app().parse_args(words, exit_on_error=False, print_error=False)


def test_there_is_an_example_for_every_command_that_prints_documents() -> None:
    commands = [each.command for each in answered()] + [each for each, _ in unanswered()]
    words = {word for command in commands for word in command.split()}
    shown = {"simulate", "explain", "why", "story", "dump-command", "check", "points", "parity"}
    assert {*shown, "bench", "engine", "live", "apiserver", "extender", "--recorded"} <= words
