"""Commands are recognised, never run."""

import pytest

from podium.simulated.programs.recognition import (
    ContainerFiles,
    Mount,
    SimulatedDisk,
    SimulatedProgram,
    recognise,
)


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
        (["sh", "-c", "sleep 5 || exit 1"], 5, 0),
        (["sh", "-c", "false || exit 7"], 0, 7),
        (["sh", "-c", "while true; do sleep 1; done"], None, 0),
        (["sh", "-c", "until false; do :; done"], None, 0),
        (["sh", "-c", "while false; do exit 4; done; exit 5"], 0, 5),
        (["sh", "-c", "if false; then exit 1; elif true; then exit 2; else exit 3; fi"], 0, 2),
        (["sh", "-c", "# a comment\nexit 6"], 0, 6),
        (["sh", "-c", "exit $((7 / 2))"], 0, 3),
        (["sh", "-c", "[ $(expr 5 % 2) -ne 0 ] && exit 9"], 0, 9),
        (["sh", "-c", "echo x > /b && test ! -f /b"], 0, 1),
        (["sh", "-c", "touch /a; [[ -r /a ]] && sleep 2; rm /a; cat /a"], 2, 1),
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
        ["sh", "-c", "sleep '5"],
        ["sh", "-c", "sleep 5 && nginx"],
        ["sh", "-c", "if true; then sleep 5"],
        ["sh", "-c", "true > "],
        ["sh", "-c", "&& true"],
        ["sh", "-c", "[ 1 -eq one ]"],
        ["sh", "-c", "exit $((1 / 0))"],
        ["sh", "-c", "(" * 99 + "$(" * 99],
        ["exit", "1", "2"],
    ],
)
def test_everything_else_is_not_guessed_at(words: list[str]) -> None:
    assert recognise(words) is None


def test_variables_have_the_values_that_the_container_gives_them() -> None:
    words = ["sh", "-c", 'if [ "${KIND}" = odd ]; then exit $CODE; fi; sleep "$LONG"']
    odd = recognise(words, {"KIND": "odd", "CODE": "3"})
    assert odd is not None
    assert odd.exit_code == 3
    even = recognise(words, {"KIND": "even", "LONG": "2m"})
    assert even is not None
    assert even.seconds == 120


def test_a_file_is_there_from_the_time_it_was_written_to_the_time_it_goes() -> None:
    disk = SimulatedDisk()
    health = ["sh", "-c", "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"]
    recognise(health, files=ContainerFiles(disk, begun_s=100))

    def look(at_s: float) -> SimulatedProgram | None:
        return recognise(["cat", "/tmp/healthy"], files=ContainerFiles(disk, begun_s=at_s))

    assert [look(at_s) for at_s in (99, 101, 131)] == [
        SimulatedProgram(0, 1, reads_files=True),
        SimulatedProgram(0, 0, reads_files=True),
        SimulatedProgram(0, 1, reads_files=True),
    ]


def test_what_is_mounted_is_seen_by_all_that_mount_it() -> None:
    shared = SimulatedDisk()
    once = ["sh", "-c", "if [[ -r /data/foo ]]; then exit 0; else touch /data/foo; exit 1; fi"]
    first = recognise(once, files=ContainerFiles(mounts=(Mount("/data", shared),)))
    second = recognise(once, files=ContainerFiles(mounts=(Mount("/data/", shared),), begun_s=5))
    below = recognise(once, files=ContainerFiles(mounts=(Mount("/data", shared, "/x"),)))
    assert [each and each.exit_code for each in (first, second, below)] == [1, 0, 1]
