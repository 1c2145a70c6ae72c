"""The recorded transcripts of a real API server, replayed against ours.

Every step over HTTP whose answer differs has to be listed, with the reason, in
`docs/apiserver-differences.md`. What kubectl prints differs between its releases, so its steps are
judged by how they end.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.apiserver.apiserver_cases import transcripts
from support.apiserver.apiserver_process import serving
from support.apiserver.kubectl_process import installed, required
from support.apiserver.transcript_replay import Verdict, replay_transcript
from support.suite.requirements import NEWER_KUBECTL

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "apiserver-differences.md"
OVER_HTTP = ("http", "watch_start", "watch_collect")
SERVERS = 3
"""Most of the time of a replay is waiting, so several go on at once, each with its own server."""


TRIES = 3
"""A step that expects an age of no seconds differs where the machine was busy for one."""

Step = tuple[str, str]
"""The name of a case and the id of a step."""


@dataclass(frozen=True)
class Replayed:
    """What came of all cases."""

    verdicts: list[Verdict]

    @property
    def over_http(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.kind in OVER_HTTP]

    @property
    def by_kubectl(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.kind not in OVER_HTTP]

    @property
    def differing(self) -> dict[Step, str]:
        """Steps over HTTP, with what differs."""
        return {
            (verdict.case, verdict.step): verdict.describe()
            for verdict in self.over_http
            if not verdict.matches
        }


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    kubectl = required(max(installed(), default=None))
    known = listed_differences()
    found: dict[str, list[Verdict]] = {}
    again = list(transcripts())
    for _ in range(TRIES):
        found |= _replay(again, kubectl, tmp_path_factory)
        again = [name for name in again if Replayed(found[name]).differing.keys() - known]
        if not again:
            break
    return Replayed([verdict for verdicts in found.values() for verdict in verdicts])


def _replay(
    names: list[str], kubectl: Path, directories: pytest.TempPathFactory
) -> dict[str, list[Verdict]]:
    """The verdicts by case; cases are dealt out by turns, so that long and short ones mix."""

    def one_part(part: list[str]) -> dict[str, list[Verdict]]:
        with serving(directories.mktemp("server")) as server:
            return {name: replay_transcript(transcripts()[name], server, kubectl) for name in part}

    parts = [part for number in range(SERVERS) if (part := names[number::SERVERS])]
    with ThreadPoolExecutor(SERVERS) as threads:
        return {
            name: verdicts
            for each in threads.map(one_part, parts)
            for name, verdicts in each.items()
        }


def listed_differences() -> set[Step]:
    """The steps of the table: | `case` step | what | why |."""
    return set(re.findall(r"^\| `([a-z-]+)` (\S+) \|", PAGE.read_text(), re.MULTILINE))


def test_answers_over_http_are_those_of_the_recorded_server(replayed: Replayed) -> None:
    total = len(replayed.over_http)

    assert total >= 600
    assert len(replayed.differing) <= 0.05 * total


# A kubectl from before policy/v1 fails in steps that prepare others, which then differ as well.
like_the_recorded_one = NEWER_KUBECTL.skip_unless(max(installed(), default=(0, 0)) >= (1, 25))


@like_the_recorded_one
def test_what_differs_is_listed_with_its_reason(replayed: Replayed) -> None:
    listed = listed_differences()
    unlisted = [told for step, told in replayed.differing.items() if step not in listed]
    assert not unlisted, "\n\n".join(unlisted)


def test_nothing_is_listed_that_does_not_differ(replayed: Replayed) -> None:
    assert listed_differences() <= replayed.differing.keys()


@like_the_recorded_one
def test_kubectl_ends_as_recorded(replayed: Replayed) -> None:
    """A kubectl other than the recorded one may take other ways in a few steps."""
    wrong = [each.describe() for each in replayed.verdicts if not each.has_right_outcome]
    assert len(wrong) <= 0.01 * len(replayed.by_kubectl), "\n\n".join(wrong)
