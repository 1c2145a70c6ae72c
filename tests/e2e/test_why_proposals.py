"""Every proposal of `podium why` for a corpus of workloads, carried out as printed: what it says
happens.

A third of the corpus is played, another one with each commit; `PODIUM_LONG=1` plays all of it.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.carried_out import Stage, belongs_to, has_node, name_of
from support.e2e.hard_pending_workloads import HARD_CASES
from support.e2e.pending_workloads import CASES, PendingWorkload
from support.e2e.up_process import Objects, up

THIRDS = 3
MAX_PROPOSALS = 5
"""As many of each answer as the command prints."""


def third() -> int:
    """Which third of the corpus is the turn of this commit; 0 where there is no git."""
    counted = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(counted.stdout or 0) % THIRDS


def chosen() -> list[PendingWorkload]:
    corpus = (*CASES, *HARD_CASES)
    if os.environ.get("PODIUM_LONG"):
        return list(corpus)
    return list(corpus[third() :: THIRDS])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("up")
    with up(folder, "0", "--speed", "20", "--no-page") as cluster:
        yield Stage(cluster, folder)


@pytest.mark.slow
@pytest.mark.parametrize("case", chosen(), ids=lambda case: case.name)
def test_what_a_proposal_says_happens(
    case: PendingWorkload, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    number, total = 0, 1
    while number < min(total, MAX_PROPOSALS):
        stage.set_up(case)
        before = stage.pods()
        answer = stage.ask(case, capsys)
        assert answer["proposals"], answer["message"]
        total = len(answer["proposals"])
        proposal = answer["proposals"][number]
        number += 1
        stage.run(line for line in proposal["commands"] if not line.startswith("#"))
        after, wanted = proposal["pods"]["after"], proposal["pods"]["wanted"]
        told = " ".join((*proposal["disruptions"], proposal["sentence"]))

        def as_told(
            pods: Objects,
            after: int = after,
            is_all: bool = after == wanted,
            told: str = told,
            before: Objects = before,
        ) -> bool:
            own = [pod for pod in pods if belongs_to(pod, case.ask)]
            there = {name_of(pod) for pod in pods if has_node(pod)}
            unharmed = all(
                name_of(pod) in there
                for pod in before
                if has_node(pod) and not belongs_to(pod, case.ask) and name_of(pod) not in told
            )
            none_waits = not is_all or len(own) == after
            return unharmed and none_waits and sum(map(has_node, own)) == after

        try:
            stage.until(as_told)
        except AssertionError:
            state = {name_of(pod): pod["spec"].get("nodeName") for pod in stage.pods()}
            raise AssertionError(f"{proposal['sentence']}: {proposal['pods']}, {state}") from None
