"""`podium replay`: a recorded cluster on a screen and as a document."""

import re
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES, podium
from support.offline.traces.written_traces import bound, node, pod, put, snapshot, write_trace

EVENING = str(EXAMPLES / "traces" / "evening.podium")
PACKING = str(EXAMPLES / "what-if" / "packing.yaml")


def test_a_replay_gives_the_same_bytes_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("replay", EVENING, "--config", PACKING, "--seed", "5", "-o", "json")
    first, second = podium(capsys, *words), podium(capsys, *words)
    assert first.out == second.out
    assert (first.code, first.err) == (0, "")


def test_what_was_recorded_is_what_podium_decides_by_the_same_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = podium(capsys, "replay", EVENING, "-o", "json").decoded()
    assert document["agreement"] == 1.0
    assert len(document["decisions"]) == 25
    other = podium(capsys, "replay", EVENING, "--config", PACKING, "--as-recorded", "-o", "json")
    assert other.code == 1
    assert other.decoded()["agreement"] < 1.0


def test_differences_are_listed_with_their_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = write_trace(
        tmp_path / "t.podium",
        *snapshot(node("n1"), node("n2", cpu="1")),
        put(1.0, pod("wide", cpu="2")),
        bound(1.5, "wide", "n2"),
        put(2.0, pod("small", cpu="1")),
        bound(2.5, "small", "n1"),
    )
    done = podium(capsys, "replay", trace)
    assert done.code == 1
    assert "1 of 2 decisions as here (50%)" in done.out
    row = next(line for line in done.out.splitlines() if "default/wide" in line)
    assert row.split() == [
        *("1.5s", "default/wide", "n2", "n1"),
        *("NodeResourcesFit:", "Insufficient", "cpu"),
    ]


def test_pods_that_lose_their_node_come_first_and_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = write_trace(
        tmp_path / "t.podium",
        *snapshot(node("n1", cpu="1")),
        put(1.0, pod("lucky", cpu="2")),
        bound(1.5, "lucky", "n1"),
    )
    done = podium(capsys, "replay", trace, "--config", "default")
    assert done.code == 1
    row = next(line for line in done.out.splitlines() if "default/lucky" in line)
    assert row.split()[:4] == ["1s", "default/lucky", "n1", "none"]
    assert "1 Insufficient" in row


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("no-such-file",), "no-such-file: cannot be read: no such file"),
        ((PACKING,), "is no cluster trace: it is not gzip"),
        ((EVENING, "--from", "soon"), "--from: "),
        ((EVENING, "--from=-1s"), "must not be negative"),
        ((EVENING, "--from", "9s", "--until", "9s"), "is not after --from"),
        ((EVENING, "--from", "9h"), "before --from"),
        ((EVENING, "--config", "no-such-file"), "no-such-file"),
    ],
)
def test_input_that_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    done = podium(capsys, "replay", *words)
    assert done.code == 2
    assert problem in done.err
    assert "Traceback" not in done.err


def test_configurations_are_compared_on_a_recorded_cluster(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configs = ("--config", "default", "--config", PACKING)
    limit = ("--fail-if", "nodes_used > 5")
    done = podium(capsys, "compare", "--trace", EVENING, *configs, *limit, "-o", "json")
    assert done.code == 1, done.err
    document = done.decoded()
    by_default, packed = (run["metrics"] for run in document["runs"])
    assert by_default["placed"] == packed["placed"] == document["podCount"] == 25
    assert packed["nodes_used"] < by_default["nodes_used"] - 2
    assert document["conditions"][0]["configurations"] == ["default"]
    shown = podium(capsys, "compare", "--trace", EVENING, *configs, "--seeds", "2")
    assert "means over 2 seeds" in shown.out
    assert "nodes used, most at once" in shown.out
    assert not re.search(r"[a-z]_[a-z]", shown.out.partition("Elsewhere")[0])


@pytest.mark.parametrize("more", [("-f", PACKING), ("--jobs", "2"), ("--prices", "a:1")])
def test_a_trace_is_a_cluster_by_itself(
    capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    done = podium(capsys, "compare", "--trace", EVENING, "--config", "default", *more)
    assert done.code == 2
    assert "--trace is a cluster by itself" in done.err
