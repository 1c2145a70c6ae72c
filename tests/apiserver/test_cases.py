"""The conversations in `cases/`: the outline of what clients rely on, from end to end.

They say in a few pages what a recording of a real server says in many, and need nothing besides.
"""

from pathlib import Path

import pytest
from support.apiserver.conversations import Talk, read_conversation

CASES = sorted(Path(__file__).with_name("cases").glob("*.yaml"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_conversation_goes_as_written(path: Path) -> None:
    case = read_conversation(path)
    talk = Talk(case.gates)
    for step in case.steps:
        assert talk.step(step) == [], f"{case.title}: {step['ask']}"


def test_every_part_of_the_server_has_a_case() -> None:
    assert len(CASES) >= 10
    assert sum(len(read_conversation(each).steps) for each in CASES) >= 100
