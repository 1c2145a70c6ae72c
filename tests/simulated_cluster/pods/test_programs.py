"""Commands are recognised, never run."""

import pytest

from podium.simulated_cluster.pods.programs import recognise


@pytest.mark.parametrize(
    ("words", "seconds", "exit_code"),
    [
        (["sleep", "5"], 5, 0),
        (["/bin/sleep", "1m", "0.5"], 60.5, 0),
        (["sleep", "infinity"], None, 0),
        (["true"], 0, 0),
        (["/bin/false"], 0, 1),
        (["sh", "-c", "exit 3"], 0, 3),
        (["/bin/sh", "-c", "sleep 5; exit 1"], 5, 1),
        (["sh", "-c", "sleep 2 && sleep 3 && true"], 5, 0),
        (["sh", "-c", "false && sleep 60"], 0, 1),
        (["sh", "-c", "false; sleep 60"], 60, 0),
        (["sh", "-ec", "false; sleep 60"], 0, 1),
        (["bash", "-c", "echo 'hello there' && sleep 1h"], 3600, 0),
        (["sh", "-c", "sleep 1\nexit 2\nsleep 60"], 1, 2),
        (["sh", "-c", "exit 300"], 0, 44),
        (["sh", "-c", "sleep 3600; exit"], 3600, 0),
    ],
)
def test_the_usual_commands_are_known(
    words: list[str], seconds: float | None, exit_code: int
) -> None:
    found = recognise(words)
    assert found is not None
    assert (found.seconds, found.exit_code) == (seconds, exit_code)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nginx"],
        ["sleep"],
        ["sleep", "soon"],
        ["sh"],
        ["sh", "script.sh"],
        ["sh", "-c", ""],
        ["sh", "-c", "sleep 5 &"],
        ["sh", "-c", "sleep 5 | true"],
        ["sh", "-c", "exit $CODE"],
        ["sh", "-c", "echo $(date)"],
        ["sh", "-c", "while true; do sleep 1; done"],
        ["sh", "-c", "sleep '5"],
        ["sh", "-c", "sleep 5 || exit 1"],
        ["exit", "1", "2"],
    ],
)
def test_everything_else_is_not_guessed_at(words: list[str]) -> None:
    assert recognise(words) is None
