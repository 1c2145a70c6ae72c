"""`podium simulate --timeline`: lives of pods, for ten of them and for thousands."""

from pathlib import Path

import pytest
import yaml
from support.commands.command_line import EXAMPLE, Write, node, pod, podium, writer

from podium.commands.pod_log_words import describe_step
from podium.commands.tables import Screen
from podium.commands.timeline_view import show_timeline
from podium.offline.simulate.timeline import LifeStep, LineKind, Timeline
from podium.scheduler.engine.observer import Line, PodLog
from podium.scheduler.explain.pod_log_lines import describe_line


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def timeline_of(out: str) -> list[str]:
    lines = out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Timeline"))
    return lines[start : lines.index("", start)]


def test_each_pod_of_the_example_has_its_life(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "simulate", *EXAMPLE, "--timeline")
    assert done.code == 1
    lines = timeline_of(done.out)
    assert lines[0] == "Timeline  seconds of virtual time; 14 pods in 0.013 s"
    (web,) = [line for line in lines if "default/web-0" in line]
    assert web.split(maxsplit=1)[1] == (
        "0.000 queued → 0.006 tried, fits → 0.007 bound to general-c1"
    )
    (report,) = [line for line in lines if "default/report" in line]
    assert report.endswith("0.000 held back by SchedulingGates")
    told = " ".join(lines)
    for step in (
        "tried, rejected by NodeResourcesFit, NodeUnschedulable",
        "evicts default/sweep-2 from gpu-b1",
        "woken by AssignedPodDelete (Pod default/sweep-2)",
        "evicted for default/render",
    ):
        assert step in told


def test_without_the_flag_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Timeline" not in podium(capsys, "simulate", *EXAMPLE).out
    assert "timeline" not in podium(capsys, "simulate", *EXAMPLE, "-o", "json").decoded()


def test_json_has_every_line_and_yaml_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, "simulate", *EXAMPLE, "--timeline", "-o", "json").decoded()
    lives = {entry["pod"]: entry["life"] for entry in document["timeline"]}
    assert len(lives) == 14
    assert [line["what"] for line in lives["default/render"]] == [
        "queued",
        "tried",
        "preempting",
        "woken",
        "tried",
        "bound",
    ]
    assert lives["default/render"][3] == {
        "atSeconds": 0.006012,
        "what": "woken",
        "plugins": ["NodeResourcesFit"],
        "about": "Pod default/sweep-2",
        "detail": "AssignedPodDelete",
    }
    done = podium(capsys, "simulate", *EXAMPLE, "--timeline", "-o", "yaml")
    assert yaml.safe_load(done.out) == document


def test_many_pods_are_grouped_by_what_happened_to_them(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    pods = [pod(f"web-{n}") for n in range(40)] + [pod(f"big-{n}", cpu="9") for n in range(5)]
    done = podium(
        capsys, "simulate", "-f", write(*(node(f"n{n}") for n in range(8)), *pods), "--timeline"
    )
    lines = timeline_of(done.out)
    assert lines[0].endswith("grouped by what happened; --all lists each pod")
    rows = lines[3:]
    assert len(rows) == 2
    assert rows[0].split()[0] == "32"
    assert "default/web-0, default/web-1 and 30 more" in rows[0]
    assert "0.000 queued → 0.000 to 0.031 tried, fits → 0.001 to 0.032 bound" in rows[0]
    assert "tried, rejected by NodeResourcesFit" in rows[1]


def test_all_lists_each_of_many(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    path = write(*(node(f"n{n}") for n in range(8)), *(pod(f"web-{n}") for n in range(40)))
    lines = timeline_of(podium(capsys, "simulate", "-f", path, "--timeline", "--all").out)
    assert len(lines) == 3 + 40


def test_of_many_different_lives_the_most_frequent_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pod_log = PodLog()
    for number in range(40):
        for copy in range(2 if number == 30 else 1):
            pod_log.note(f"ns/p{number}-{copy}", 1.0, "tried", "no", (f"Plugin{number}",))
    show_timeline(Timeline(pod_log, 0.0), Screen(), show_all=False)
    out = capsys.readouterr().out
    assert out.splitlines()[4].split()[:2] == ["2", "ns/p30-0,"]
    assert out.splitlines()[-1] == "and 28 more lives of 28 pods"


def test_a_long_life_is_cut_in_the_middle(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    plugin = tmp_path / "broken.py"
    plugin.write_text(
        "from podium.plugin import NodeFilterPlugin\n"
        "class Broken(NodeFilterPlugin):\n"
        "    name = 'Broken'\n"
        "    def filter_node(self, pod, node):\n"
        "        raise ValueError('boom')\n"
    )
    path = write(node(), pod("a"))
    arguments = ("simulate", "-f", path, "--plugin", str(plugin), "--timeline")
    done = podium(capsys, *arguments)
    assert "... 22 more steps ..." in done.out
    assert "given up" in done.out
    every = podium(capsys, *arguments, "--all")
    assert " ".join(every.out.split()).count("tried, failed: running") == 16


# words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (Line(0, "waiting", plugins=("Gang",), about="n1"), "waits on n1 for Gang"),
        (Line(0, "binding failed", "no", about="n1"), "binding to n1 failed: no"),
        (Line(0, "tried", "x" * 60), f"tried, failed: {'x' * 47}..."),
        (Line(0, "woken", "ForceActivate"), "woken by ForceActivate"),
        (Line(0, "woken", "BackoffComplete"), "backoff over"),
        (Line(0, "deleted"), "gone"),
        (Line(0, "given up"), "given up"),
        (Line(0, "undoing failed", "no"), "undoing failed"),
    ],
)
def test_every_line_has_words(line: Line, words: str) -> None:
    assert describe_line(line) == words


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (LineKind("tried", found=True), "tried, fits"),
        (LineKind("tried"), "tried, failed"),
        (LineKind("tried", ("A", "B")), "tried, rejected by A, B"),
        (LineKind("woken", ("A",), event="NodeAdd"), "woken by NodeAdd"),
        (LineKind("waiting", ("A",)), "waits for A"),
        (LineKind("preempting"), "evicts others"),
        (LineKind("preempted"), "evicted for another pod"),
        (LineKind("bound"), "bound"),
        (LineKind("binding failed"), "binding failed"),
        (LineKind("held back", ("A",)), "held back by A"),
    ],
)
def test_every_step_of_many_has_words(kind: LineKind, words: str) -> None:
    assert describe_step(LifeStep(kind, fewest=1, most=1)) == words


def test_steps_that_happened_more_than_once_say_how_often() -> None:
    assert describe_step(LifeStep(LineKind("bound"), fewest=2, most=2)) == "bound, 2 times"
    assert describe_step(LifeStep(LineKind("bound"), fewest=1, most=9)) == "bound, 1 to 9 times"
