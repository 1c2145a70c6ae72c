"""Commands that answer: their options, their forms, and the command line that asks the same."""

import importlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
import yaml
from cyclopts import App, Parameter
from support.commands.command_line import ROOT
from support.web.report_files import documents

from podium.commands.answering import (
    IN_FULL,
    ON_A_TERMINAL,
    Answer,
    PrintOptions,
    Report,
    answers,
)
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.commands.tables import Screen
from podium.golang.document_structs import Document
from podium.net.files.versioned_documents import API_VERSION, ReceivedDocument

Often = Annotated[int, Parameter(name=["--often", "-o2"])]


class Echo(Document, frozen=True):
    """What was said."""

    KIND: ClassVar[str] = "Echo"

    said_twice: str
    """All of it."""


@dataclass
class Echoed(Answer):
    text: str
    is_yes: bool = True
    has_crashed: bool = False
    made: int = 0

    def document(self) -> Echo:
        self.made += 1
        return Echo(self.text * 2)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        screen.print(f"{self.text} wide={wide} all={show_all}")

    def report(self, document: Echo) -> Report:
        return Report([], {"echo": document}, ())


def run(answer: Answer | int, *words: str, how: PrintOptions | None = None) -> int:
    def echo(
        text: str,
        *paths: str,
        options: SimulationOptions = BY_DEFAULT,
        often: Often = 1,
        softly: Annotated[bool, Parameter(name=["--softly"], negative="")] = False,
        to: Annotated[list[str] | None, Parameter(name=["--to"], negative="")] = None,
    ) -> Answer | int:
        return answer

    app = App(result_action="return_value")
    app.command(answers("echo", how)(echo) if how else answers("echo")(echo), name="echo")
    code = app(["echo", *words], exit_on_error=False)
    assert isinstance(code, int)
    return code


def test_a_table_needs_no_document(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Echoed("hello")
    assert run(answer, "x", "--output", "wide", "--all") == 0
    assert capsys.readouterr().out == "hello wide=True all=True\n"
    assert not answer.made


def test_a_document_and_a_report_are_made_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, file = Echoed("a"), tmp_path / "report.html"
    run(answer, "x", "--output", "json", "--html", str(file))
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"apiVersion": "podium.dev/v1", "kind": "Echo", "saidTwice": "aa"}
    assert documents(file)["echo"] == printed
    assert answer.made == 1


@pytest.mark.parametrize(
    ("is_yes", "has_crashed", "code"), [(True, False, 0), (False, False, 1), (True, True, 70)]
)
def test_the_exit_code_is_the_answer(is_yes: bool, has_crashed: bool, code: int) -> None:
    assert run(Echoed("", is_yes, has_crashed), "x") == code


def test_a_command_whose_table_is_short_has_no_option_for_all_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Exception, match="--all"):
        run(Echoed(""), "x", "--all", how=IN_FULL)
    assert run(Echoed("short"), "x", how=IN_FULL) == 0
    assert "all=False" in capsys.readouterr().out


def test_a_report_has_the_command_line_without_what_is_so_by_default(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    words = (
        *("a file", "more.yaml", "-f", "first.yaml", "--softly", "--to", "x", "--to", "y z"),
        *("--often", "1", "--seed", "3", "--kubeconfig", "my config", "--output", "yaml"),
    )
    run(Echoed(""), *words, "--html", str(file))
    told = shlex.split(documents(file)["overview"]["command"])
    assert told == [
        *("podium", "echo", "a file", "-f", "first.yaml", "-f", "more.yaml"),
        *("--kubeconfig", "my config", "--seed", "3", "--softly", "--to", "x", "--to", "y z"),
    ]


@dataclass
class Undertaken(Echoed):
    """An answer after which something is done."""

    succeeds: bool = True

    def carry_out(self) -> bool:
        return self.succeeds


@pytest.mark.parametrize(
    ("is_yes", "succeeds", "code"), [(True, True, 0), (True, False, 1), (False, True, 1)]
)
def test_what_is_done_after_the_answer_has_a_say_in_the_exit_code(
    is_yes: bool, succeeds: bool, code: int
) -> None:
    assert run(Undertaken("", is_yes, succeeds=succeeds), "x", how=ON_A_TERMINAL) == code


def test_a_command_without_reports_has_no_option_for_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Exception, match="--html"):
        run(Echoed(""), "x", "--html", "page.html", how=ON_A_TERMINAL)
    assert run(Echoed("short"), "x", "-o", "wide", how=ON_A_TERMINAL) == 0
    assert capsys.readouterr().out == "short wide=True all=False\n"


def test_a_command_that_has_said_why_there_is_no_answer_gives_its_exit_code() -> None:
    assert run(1, "x") == 1


def test_all_forms_of_an_answer_come_from_its_struct(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    found = []
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        assert run(Echoed("short"), "x", "-o", form, "--html", str(file)) == 0
        found.append(read(capsys.readouterr().out))
    said = {"apiVersion": API_VERSION, "kind": "Echo", "saidTwice": "shortshort"}
    assert [*found, documents(file)["echo"]] == [said] * 3
    monkeypatch.syspath_prepend(ROOT / "tools")
    schema = importlib.import_module("document_schemas").schema_of(Echo)
    assert schema["required"] == list(said)
    assert schema["properties"]["saidTwice"] == {"type": "string", "description": "All of it."}


def test_what_another_process_has_sent_is_passed_on_as_it_came(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @dataclass
    class Sent(Echoed):
        def document(self) -> Any:
            return ReceivedDocument("PodRecord", {"apiVersion": "podium/v9", "new": 1})

    assert run(Sent(""), "x", "-o", "json", how=ON_A_TERMINAL) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"apiVersion": "podium/v9", "kind": "PodRecord", "new": 1}
