"""The command line as a whole."""

import io
import shutil
import subprocess
import sys

import pytest
from support.suite.requirements import BASH

from podium import __version__
from podium.commands import main


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands_with_summaries(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "Place pods on a cluster from files." in out
    assert "Tell why a pod goes where it goes." in out
    assert "podium simulate -f cluster.yaml -f pods.yaml" in out


@pytest.mark.parametrize("command", ["simulate", "explain", "why", "story"])
def test_a_command_helps_with_examples_and_exit_codes(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples" in out
    assert f"podium {command} " in out
    assert "Exit code" in out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "simulate" in out
    assert "--validation" in out or "validation" in out


@BASH.skip_unless(shutil.which("bash"))
def test_the_bash_script_is_bash(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    done = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_an_unknown_command_has_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulat"]) == 2
    assert "simulate" in capsys.readouterr().err


class _Pressed(io.RawIOBase):
    """A standard input at which somebody presses Ctrl-C."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "-f", "-"],
        ["explain", "web", "-f", "-"],
        ["sweep", "-f", "-"],
        ["config", "check", "-"],
    ],
    ids=" ".join,
)
def test_an_interruption_is_one_line_and_exit_code_130(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Pressed())))
    assert main(arguments) == 130
    assert capsys.readouterr().err == "podium: interrupted\n"


PRESSED_WHILE_LOADING = """
import runpy, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "podium.commands.app":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
runpy.run_module("podium", run_name="__main__")
"""


def test_an_interruption_while_the_program_loads_is_answered_like_any_other() -> None:
    command = [sys.executable, "-c", PRESSED_WHILE_LOADING]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "podium: interrupted\n")
