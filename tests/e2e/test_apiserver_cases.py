"""The recorded transcripts of a real API server, replayed against ours.

The transcripts and the program that replays them are not part of the project: the test runs where
they are at hand. Every step over HTTP whose answer differs has to be listed, with the reason, in
`docs/apiserver-differences.md`. What kubectl prints differs between its releases, so its steps are
judged by how they end.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.apiserver_process import serving
from support.apiserver.kubectl_process import installed, required

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "apiserver-cases"
PAGE = ROOT / "docs" / "apiserver-differences.md"
OVER_HTTP = ("http", "watch_start", "watch_collect")
SERVERS = 3
"""Most of the time of a replay is waiting, so several go on at once, each with its own server."""


TRIES = 3
"""A step that expects an age of no seconds differs where the machine was busy for one."""


@dataclass
class Replayed:
    """What came of all cases."""

    differing: set[tuple[str, str]]
    """Steps over HTTP, by case and number."""
    steps: Counter[str]
    """Compared steps, by `http` or `kubectl`."""
    wrong_outcomes: int


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    if not CASES.is_dir():
        pytest.skip("no recorded cases at hand")
    kubectl = required(max(installed(), default=None))
    cases = {path.stem: json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))}
    known = listed_differences()
    reports: dict[str, Any] = {}
    again = list(cases)
    for _ in range(TRIES):
        reports |= _replay(again, kubectl, tmp_path_factory)
        again = [name for name in again if _differing(cases[name], reports[name]) - known]
        if not again:
            break
    found = Replayed(set(), Counter(), 0)
    for name, case in cases.items():
        compared = _steps_over_http(case)
        found.steps["http"] += len(compared)
        found.steps["kubectl"] += reports[name]["steps"] - len(compared)
        found.wrong_outcomes += reports[name]["steps"] - reports[name]["outcome"]
        found.differing |= _differing(case, reports[name])
    return found


def _replay(names: list[str], kubectl: Path, directories: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of each case; they are dealt out by turns, so that long and short ones mix."""

    def one_part(part: list[str]) -> dict[str, Any]:
        directory = directories.mktemp("server")
        report = directory / "report.json"
        with serving(directory) as server:
            program = (sys.executable, str(CASES / "replay.py"), "--json", str(report))
            options = ("--kubeconfig", str(server.kubeconfig), "--kubectl", str(kubectl))
            subprocess.run(
                [*program, *options, *(str(CASES / f"{name}.json") for name in part)],
                check=False,
                capture_output=True,
                timeout=600,
            )
        found: dict[str, Any] = json.loads(report.read_text())["cases"]
        return found

    parts = [part for number in range(SERVERS) if (part := names[number::SERVERS])]
    with ThreadPoolExecutor(SERVERS) as threads:
        return {
            name: report for each in threads.map(one_part, parts) for name, report in each.items()
        }


def _steps_over_http(case: dict[str, Any]) -> set[str]:
    return {
        step.get("id", str(number))
        for number, step in enumerate(case["steps"], 1)
        if step["kind"] in OVER_HTTP and "expect" in step
    }


def _differing(case: dict[str, Any], report: dict[str, Any]) -> set[tuple[str, str]]:
    compared = _steps_over_http(case)
    return {(case["name"], step) for step in report["failed"] if step in compared}


def listed_differences() -> set[tuple[str, str]]:
    """The steps of the table: | `case` step | what | why |."""
    return set(re.findall(r"^\| `([a-z-]+)` (\S+) \|", PAGE.read_text(), re.MULTILINE))


def test_answers_over_http_are_those_of_the_recorded_server(replayed: Replayed) -> None:
    total = replayed.steps["http"]

    assert total >= 600
    assert len(replayed.differing) <= 0.05 * total


# A kubectl from before policy/v1 fails in steps that prepare others, which then differ as well.
like_the_recorded_one = pytest.mark.skipif(
    max(installed(), default=(0, 0)) < (1, 25),
    reason="kubectl is too old to take the recorded steps",
)


@like_the_recorded_one
def test_what_differs_is_listed_with_its_reason(replayed: Replayed) -> None:
    assert replayed.differing <= listed_differences()


def test_nothing_is_listed_that_does_not_differ(replayed: Replayed) -> None:
    assert listed_differences() <= replayed.differing


@like_the_recorded_one
def test_kubectl_ends_as_recorded(replayed: Replayed) -> None:
    """A kubectl other than the recorded one may take other ways in a few steps."""
    assert replayed.wrong_outcomes <= 0.01 * replayed.steps["kubectl"]
