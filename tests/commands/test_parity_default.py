"""`podium parity` without an argument: the cases that it takes, and the error without any."""

import json
from pathlib import Path

import pytest
from support.commands.command_line import ROOT, podium

from podium.parity.cases import find_recorded_cases

HERE = ROOT / "tests" / "recorded" / "parity-1.36"


@pytest.fixture(autouse=True)
def installed_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Podium is outside of any clone."""
    monkeypatch.setattr("podium.commands.parity.PROGRAM", tmp_path / "lib" / "podium" / "parity.py")
    monkeypatch.chdir(tmp_path)


def write_family(clone: Path, family: str, release: str = "parity-1.36") -> None:
    directory = clone / "tests" / "recorded" / release
    directory.mkdir(parents=True)
    (directory / f"{family}.jsonl").write_text(json.dumps({"name": "x"}))


def families(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    done = podium(capsys, "parity", "-o", "json", *arguments)
    assert done.code == 0
    return [item["family"] for item in done.decoded()["items"]]


def test_the_cases_of_the_clone_around_the_current_directory_are_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_family(tmp_path, "outer")
    write_family(tmp_path / "clone", "one")
    write_family(tmp_path / "clone", "two", "parity-1.37")
    inside = tmp_path / "clone" / "src" / "podium"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert families(capsys) == ["one", "two"]


def test_the_cases_of_the_clone_that_podium_runs_from_are_compared_elsewhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_family(tmp_path / "lib", "own")
    assert families(capsys) == ["own"]


def test_paths_that_are_given_are_all_that_is_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_family(tmp_path, "one")
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"name": "x"}))
    assert families(capsys, str(other)) == ["other"]


def test_without_any_cases_the_error_says_what_to_pass(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "parity")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "podium: no recorded cases are given, and there is no tests/recorded/parity-* here or in a "
        "directory above; name case files or directories of them, or run it in a clone of Podium\n"
    )


def test_this_clone_has_the_cases_that_are_found() -> None:
    assert find_recorded_cases(Path(__file__)) == [HERE]
