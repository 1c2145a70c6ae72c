"""Whatever a plugin does, it is the plugin's mistake: told by name, and never a bug of Podium's."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable
from itertools import product
from pathlib import Path
from textwrap import dedent, indent

import pytest
from support.commands.command_line import (
    Done,
    Raw,
    Write,
    node,
    pod,
    podium,
    priority_class,
    writer,
)
from support.suite.requirements import TERMINALS
from support.user_code.plugin_files import Source
from support.waiting import PATIENCE_S

from podium.scheduler.config.types import API_VERSION, KIND

pytestmark = pytest.mark.usefixtures("wide_output", "own_modules")

POINTS = {
    "pre_enqueue": ("PreEnqueuePlugin", "def pre_enqueue(self, pod)"),
    "sort_key": ("QueueSortPlugin", "def sort_key(self, queued)"),
    "less": ("QueueSortPlugin", "def less(self, one, other)"),
    "pre_filter": ("PreFilterPlugin", "def pre_filter(self, cycle)"),
    "filter": ("FilterPlugin", "def filter(self, cycle, rows)"),
    "filter_node": ("NodeFilterPlugin", "def filter_node(self, pod, node)"),
    "post_filter": ("PostFilterPlugin", "def post_filter(self, cycle, diagnosis)"),
    "pre_score": ("PreScorePlugin", "def pre_score(self, cycle, rows)"),
    "score": ("ScorePlugin", "def score(self, cycle, rows)"),
    "score_node": ("NodeScorePlugin", "def score_node(self, pod, node)"),
    "normalize": (
        "NodeScorePlugin",
        "def score_node(self, pod, node): return 1\n    def normalize(self, cycle, rows, scores)",
    ),
    "reserve": (
        "ReservePlugin",
        "def unreserve(self, cycle, node_name): pass\n    def reserve(self, cycle, node_name)",
    ),
    "unreserve": (
        "ReservePlugin",
        "def reserve(self, cycle, node_name): return unschedulable('no')\n"
        "    def unreserve(self, cycle, node_name)",
    ),
    "permit": ("PermitPlugin", "def permit(self, cycle, node_name)"),
    "pre_bind_pre_flight": (
        "PreBindPlugin",
        "async def pre_bind(self, cycle, node_name, api): pass\n"
        "    def pre_bind_pre_flight(self, cycle, node_name)",
    ),
    "pre_bind": (
        "PreBindPlugin",
        "def pre_bind_pre_flight(self, cycle, node_name): return PreFlight()\n"
        "    async def pre_bind(self, cycle, node_name, api)",
    ),
    "bind": ("BindPlugin", "async def bind(self, cycle, node_name, api)"),
    "post_bind": ("PostBindPlugin", "async def post_bind(self, cycle, node_name, api)"),
    "events": (
        "NodeFilterPlugin",
        "def filter_node(self, pod, node): return 'no'\n    def events(self)",
    ),
    "sources": (
        "NodeFilterPlugin",
        "def filter_node(self, pod, node): return 'no'\n    def sources(self)",
    ),
    "__init__": (
        "NodeFilterPlugin",
        "def filter_node(self, pod, node): return 'no'\n    def __init__(self, args, handle)",
    ),
    "add_pod": (
        "PreFilterPlugin, PreFilterExtensions",
        "def pre_filter(self, cycle): return None\n"
        "    def remove_pod(self, cycle, pod, row): pass\n"
        "    def add_pod(self, cycle, pod, row)",
    ),
    "remove_pod": (
        "PreFilterPlugin, PreFilterExtensions",
        "def pre_filter(self, cycle): return None\n"
        "    def add_pod(self, cycle, pod, row): pass\n"
        "    def remove_pod(self, cycle, pod, row)",
    ),
}

MISTAKES = {
    "a text": "return 'nope'",
    "a number": "return 7",
    "a fraction": "return 0.5",
    "nothing": "return None",
    "true": "return True",
    "a list": "return ['n1', 3]",
    "an object": "return object()",
    "a class": "return Status",
    "a status": "return unschedulable('no')",
    "a status of another point": "return Status(Code.WAIT)",
    "a status without a code": "return Status('Unschedulable', ('no',))",
    "a status with a number for a reason": "return unschedulable(3)",
    "a verdict that lies": "return Verdict(np.ones(1, dtype=np.int32), lambda value: 'no')",
    "a verdict that breaks": "return Verdict(np.ones(1, dtype=np.int32), lambda value: 1 / 0)",
    "a verdict of another length": "return Verdict(np.ones(9, dtype=np.int32), lambda v: v)",
    "a permit result with a text": "return PermitResult('wait')",
    "a permit result that never ends": "return PermitResult(Status(Code.WAIT), float('nan'))",
    "a post filter result with texts": "return PostFilterResult(Code.SUCCESS, 'no')",
    "a node that is not there": "return PostFilterResult(Code.SUCCESS, (), 'nowhere')",
    "a set of names": "return {'nowhere'}",
    "a generator": "yield 1",
    "an array of floats": "return np.array([0.5])",
    "an array of another length": "return np.ones(7, dtype=np.int64)",
    "a huge score": "return 10 ** 30",
    "raises": "raise ValueError('on purpose')",
    "an accident": "return {}['zone']",
    "exits": "sys.exit(3)",
    "exits quietly": "raise SystemExit",
    "raises what is no error": "raise Strange('odd')",
    "raises what Ctrl-C raises": "raise KeyboardInterrupt",
    "raises what closes generators": "raise GeneratorExit",
    "raises what stops a task": "raise asyncio.CancelledError",
    "stops an iteration": "raise StopIteration",
    "recurses": "return deeper(0)",
    "asserts": "assert False",
}


def combine(points: Iterable[str], mistakes: Collection[str]) -> list[object]:
    """Every mistake at every point, of which each mistake is quick at one point, and each point
    with one mistake at least."""
    points = list(points)
    diagonal = range(max(len(points), len(mistakes)))
    quick = {(each % len(points), each % len(mistakes)) for each in diagonal}
    return [
        pytest.param(point, mistake, marks=[] if (row, column) in quick else [pytest.mark.slow])
        for (row, point), (column, mistake) in product(enumerate(points), enumerate(mistakes))
    ]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def plugin_with(point: str, body: str) -> str:
    bases, head = POINTS[point]
    return (
        dedent("""
        import asyncio
        import signal
        import sys
        import threading

        import numpy as np

        from podium.plugin import *

        class Strange(BaseException):
            pass

        def deeper(n):
            return deeper(n + 1)

    """)
        + f'class Mine({bases}):\n    name = "Mine"\n\n    {head}:\n{indent(body, " " * 8)}\n'
    )


def configuration(text: str) -> Raw:
    """One in which the plugin runs at its points, in place of others where there is room for one
    only."""
    mine = {"enabled": [{"name": "Mine"}]}
    plugins: Raw = {"multiPoint": mine}
    if "(QueueSortPlugin" in text:
        plugins["queueSort"] = {**mine, "disabled": [{"name": "*"}]}
    if "(PlacementGeneratePlugin" in text:
        plugins["placementGenerate"] = {**mine, "disabled": [{"name": "*"}]}
    if "(BindPlugin" in text:
        plugins["bind"] = {
            "enabled": [{"name": "Mine"}, {"name": "DefaultBinder"}],
            "disabled": [{"name": "*"}],
        }
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [{"plugins": plugins}]}


def run_with(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    tmp_path: Path,
    text: str,
    *more: str,
) -> Done:
    config = tmp_path / "scheduler.json"
    config.write_text(json.dumps(configuration(text)))
    objects = write(
        node(),
        priority_class("high", 9),
        pod("old", cpu="3", nodeName="n1"),
        pod("high", cpu="2", priorityClassName="high"),
        pod("small"),
        pod("too-big", cpu="50"),
    )
    arguments = ("simulate", "-f", objects, "--config", str(config), "--plugin", source(text))
    return podium(capsys, *arguments, *more)


@pytest.mark.parametrize(("point", "mistake"), combine(POINTS, MISTAKES))
def test_no_mistake_at_any_point_passes_for_a_bug_of_podiums(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    tmp_path: Path,
    point: str,
    mistake: str,
) -> None:
    done = run_with(capsys, source, write, tmp_path, plugin_with(point, MISTAKES[mistake]))
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.out + done.err
    assert "bug" not in done.err
    assert "Podium failed" not in done.out
    if done.code == 2:
        assert "Mine" in done.err


GROUP_POINTS = {
    "generate_placements": (
        "PlacementGeneratePlugin",
        "def generate_placements(self, group, parent)",
    ),
    "score_placement": ("PlacementScorePlugin", "def score_placement(self, group, assignments)"),
    "normalize_placements": (
        "PlacementScorePlugin",
        "def score_placement(self, group, assignments): return 1\n"
        "    def normalize_placements(self, group, scores)",
    ),
}


@pytest.mark.parametrize(("point", "mistake"), combine(GROUP_POINTS, MISTAKES))
def test_nor_does_one_at_the_points_of_pod_groups(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    point: str,
    mistake: str,
) -> None:
    monkeypatch.setitem(POINTS, point, GROUP_POINTS[point])
    text = plugin_with(point, MISTAKES[mistake])
    config = tmp_path / "scheduler.json"
    config.write_text(json.dumps(configuration(text)))
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
    }
    members = [pod(name, schedulingGroup={"podGroupName": "g"}) for name in "ab"]
    gates = "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
    arguments = ("simulate", "-f", write(node(), group, *members), "--plugin", source(text))
    done = podium(capsys, *arguments, "--config", str(config), "--feature-gates", gates)
    assert done.code in (0, 1), done
    assert "Traceback" not in done.out + done.err
    assert "Podium failed" not in done.out


def test_a_permit_that_answers_with_a_text_is_told_what_it_must_answer(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    done = run_with(capsys, source, write, tmp_path, plugin_with("permit", "return 'wait'"))
    assert done.code == 1
    assert (
        'running Permit plugin "Mine": permit must answer with None or a PermitResult, not'
        " 'wait'" in done.out
    )


def test_an_exit_says_where_it_was(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    text = plugin_with("reserve", "sys.exit(3)")
    line = dedent(text).split("\n").index("        sys.exit(3)") + 1
    done = run_with(capsys, source, write, tmp_path, text)
    assert 'running Reserve plugin "Mine": SystemExit: 3 (' in done.out
    assert f".py, line {line})" in done.out


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "GeneratorExit"])
def test_an_interruption_that_a_plugin_raises_fails_its_pod_alone(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path, raised: str
) -> None:
    body = f"if cycle.pod.pod.metadata.name == 'high': raise {raised}"
    done = run_with(capsys, source, write, tmp_path, plugin_with("reserve", body), "-o", "json")
    results = {each["name"]: each for each in done.decoded()["pods"]}
    assert f'running Reserve plugin "Mine": {raised} (' in results["high"]["message"]
    assert results["small"]["node"] == "n1"


def test_ctrl_c_ends_the_run_also_while_a_plugin_is_at_work(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        body = "signal.raise_signal(signal.SIGINT)\nreturn None"
        done = run_with(capsys, source, write, tmp_path, plugin_with("reserve", body))
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 130
    assert done.err.splitlines()[-1] == "podium: interrupted"


@pytest.mark.slow
def test_a_thread_that_a_plugin_leaves_does_not_keep_the_process(
    source: Source, write: Write, tmp_path: Path
) -> None:
    text = plugin_with("reserve", "threading.Thread(target=threading.Event().wait).start()")
    config = tmp_path / "scheduler.json"
    config.write_text(json.dumps(configuration(text)))
    objects = write(node(), pod("p"))
    command = [sys.executable, "-m", "podium", "simulate", "-f", objects, "--config", str(config)]
    done = subprocess.run(
        [*command, "--plugin", source(text)], capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done
    assert b"1 placed" in done.stdout


def test_an_order_that_breaks_ends_the_run_with_the_plugins_name(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    done = run_with(capsys, source, write, tmp_path, plugin_with("sort_key", "return object()"))
    assert done.code == 2
    assert "podium: plugin Mine cannot order the queue: TypeError: '<' not supported" in done.err


SYNCHRONOUS = sorted({*POINTS} - {"pre_bind", "bind", "post_bind", "__init__"})


@pytest.mark.parametrize("point", SYNCHRONOUS)
def test_async_methods_are_refused_when_they_are_loaded(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path, point: str
) -> None:
    text = plugin_with(point, "return None").replace(f"def {point}(", f"async def {point}(")
    done = run_with(capsys, source, write, tmp_path, text)
    assert done.code == 2
    assert f"plugin Mine: {point} is `async def`, and nobody awaits it; write `def`" in done.err


@pytest.mark.parametrize("point", ["pre_bind", "bind", "post_bind"])
def test_methods_of_the_binding_cycle_must_be_async(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path, point: str
) -> None:
    text = plugin_with(point, "return None").replace(f"async def {point}(", f"def {point}(")
    done = run_with(capsys, source, write, tmp_path, text, "-o", "json", "--timeline")
    assert done.code == 1
    assert f"{point} must answer with a coroutine (write `async def`), not NoneType" in done.out


def test_a_misspelt_method_is_refused_with_the_right_name(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    text = plugin_with("permit", "return None").replace("def permit(", "def permitt(")
    done = run_with(capsys, source, write, tmp_path, text)
    assert done.code == 2
    assert "did you mean permit?" in done.err


@pytest.mark.parametrize("point", ["__init__", "filter_node", "permit", "pre_bind", "post_bind"])
def test_what_a_plugin_prints_is_no_part_of_a_document(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path, point: str
) -> None:
    body = (
        "print('hello'); super().__init__(args, handle)"
        if point == "__init__"
        else ("print('hello')")
    )
    text = plugin_with(point, body) + "\nprint('loaded')\n"
    done = run_with(capsys, source, write, tmp_path, text, "-o", "json")
    assert done.decoded()["summary"]["pendingPods"] == 3
    assert done.err.startswith("loaded\nhello\n")


@pytest.mark.parametrize("pause", ["breakpoint()", "import pdb; pdb.set_trace()", "input('? ')"])
def test_a_debugger_has_the_terminal_to_itself(source: Source, write: Write, pause: str) -> None:
    plugin = source(plugin_with("filter_node", f"{pause}\nreturn None"))
    ours, theirs = open_terminal()
    command = [sys.executable, "-m", "podium", "simulate", "-f", write(node(), pod("p"))]
    with subprocess.Popen(
        [*command, "--plugin", plugin],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        prompt = b"? " if "input" in pause else b"(Pdb) "
        told = read_until(ours, prompt)
        os.write(ours, b"q\n")
        if "input" not in pause and sys.version_info >= (3, 14):
            read_until(ours, b"[y/n] ")
            os.write(ours, b"y\n")
        rest = read_until(ours, b"")
        code = process.wait(60)
    os.close(ours)
    after_prompt = told.rpartition(prompt)[2]
    assert b"placing pods" not in after_prompt + rest
    assert code == (0 if "input" in pause else 130), (told, rest)
    assert b"Traceback" not in rest


def open_terminal() -> tuple[int, int]:
    try:
        return pty.openpty()
    except OSError:
        TERMINALS.skip()


def read_until(terminal: int, wanted: bytes) -> bytes:
    """What a terminal shows up to some text, or to its end."""
    shown = b""
    while not wanted or wanted not in shown:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    assert wanted in shown, shown
    return shown


def test_wrong_arguments_of_a_plugin_are_the_only_thing_that_config_check_tells(
    capsys: pytest.CaptureFixture[str], source: Source, tmp_path: Path
) -> None:
    plugin = source("""
        import msgspec
        from podium.plugin import NodeScorePlugin

        class Mine(NodeScorePlugin):
            name = "Mine"

            class Args(msgspec.Struct):
                zone: str

            def score_node(self, pod, node):
                return 1
    """)
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        f"apiVersion: {API_VERSION}\nkind: {KIND}\nprofiles:\n"
        "- plugins: {score: {enabled: [{name: Mine}]}}\n"
        "  pluginConfig: [{name: Mine, args: {zne: x}}]\n"
    )
    done = podium(capsys, "config", "check", str(config), "--plugin", plugin, "-o", "json")
    assert done.code == 1
    (problem,) = done.decoded()["problems"]
    assert problem["path"] == "profiles[0].pluginConfig[0].args.zne"
    assert problem["remedy"] == "did you mean zone?"


CASE: Raw = {
    "name": "mine",
    "objects": [node()],
    "steps": [{"pod": pod("p", schedulerName="other")}],
}


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (
            CASE,
            "podium: mine: steps[0].pod.spec.schedulerName: no profile is named 'other'; the"
            " case's config has default-scheduler; add the profile there",
        ),
        (
            {**CASE, "steps": [{"pod": node()}]},
            "podium: mine: steps[0].pod: a step schedules a Pod, not a Node",
        ),
        (
            {**CASE, "objects": [{"apiVersion": "v1", "kind": "Nod"}]},
            "podium: mine: objects[0].kind: Nod (v1) is not a kind that scheduling reads",
        ),
    ],
)
def test_a_case_that_cannot_be_decided_says_where_and_why(case: Raw, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "podium", "decide"],
        input=json.dumps(case),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(told)
