"""Plugins of users in a configuration: where they run, what they get, and what becomes of a pod
when one of them breaks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import Write, node, pod, podium, writer
from support.user_code.plugin_files import SAYS_NO, Source

pytestmark = pytest.mark.usefixtures("wide_output", "own_modules")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def test_a_plugin_that_nobody_named_runs_everywhere_and_a_note_says_so(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    path = source(SAYS_NO)
    done = podium(
        capsys, "simulate", "-f", write(node(), pod("bad"), pod("good")), "--plugin", path
    )
    assert done.code == 1
    assert "1 said no" in done.out
    assert "1 placed, 1 without a node" in done.out
    assert (
        f"plugin SaysNo ({path}) is not in the configuration: enabled at multiPoint in every"
        " profile, with weight 1"
    ) in done.out


@pytest.mark.parametrize("command", ["explain", "story"])
def test_the_note_is_there_for_one_pod_too(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, command: str
) -> None:
    arguments = (command, "bad", "-f", write(node(), pod("bad")), "--plugin", source(SAYS_NO))
    done = podium(capsys, *arguments)
    assert done.code == 1
    assert "SaysNo" in done.out
    assert "is not in the configuration" in done.out
    document = podium(capsys, *arguments, "-o", "json").decoded()
    assert len(document["notes"]) == 1


@pytest.mark.parametrize(
    "plugins",
    [
        {"filter": {"enabled": [{"name": "SaysNo"}]}},
        {"multiPoint": {"enabled": [{"name": "SaysNo"}]}},
    ],
)
def test_a_plugin_that_is_named_runs_where_it_is_named(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    scheduler: Callable[..., str],
    plugins: dict[str, Any],
) -> None:
    done = podium(
        capsys,
        *("simulate", "-f", write(node(), pod("bad"))),
        *("--plugin", source(SAYS_NO), "--config", scheduler(plugins=plugins)),
    )
    assert "1 said no" in done.out
    assert "is not in the configuration" not in done.out


def test_a_plugin_that_is_switched_off_stays_off(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    scheduler: Callable[..., str],
) -> None:
    config = scheduler(plugins={"multiPoint": {"disabled": [{"name": "SaysNo"}]}})
    done = podium(
        capsys,
        *("simulate", "-f", write(node(), pod("bad"))),
        *("--plugin", source(SAYS_NO), "--config", config),
    )
    assert done.code == 0


def test_a_plugin_that_nobody_has_is_an_error_with_a_remedy(
    capsys: pytest.CaptureFixture[str], write: Write, scheduler: Callable[..., str]
) -> None:
    config = scheduler(plugins={"filter": {"enabled": [{"name": "Ghost"}]}})
    done = podium(capsys, "simulate", "-f", write(node()), "--config", config)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"podium: {config}: initializing profiles: creating profile for scheduler name"
        ' default-scheduler: FilterPlugin "Ghost" does not exist; --plugin adds one, and so does'
        " the entry point group podium.plugins\n"
    )
    config = scheduler(plugins={"filter": {"enabled": [{"name": "NodeNames"}]}})
    done = podium(capsys, "simulate", "-f", write(node()), "--config", config)
    assert done.err.endswith("did you mean NodeName?\n")


TYPED = """
    import msgspec
    from podium.plugin import NodeScorePlugin

    class Typed(NodeScorePlugin):
        name = "Typed"

        class Args(msgspec.Struct):
            points: int = 5

        def score_node(self, pod, node):
            return self.args.points
"""


def test_arguments_reach_the_plugin_and_wrong_ones_are_told_with_their_place(
    capsys: pytest.CaptureFixture[str],
    source: Source,
    write: Write,
    scheduler: Callable[..., str],
) -> None:
    def run(args: Any) -> Any:
        config = scheduler(pluginConfig=[{"name": "Typed", "args": args}])
        files = ("-f", write(node("n1"), node("n2"), pod("p")), "--config", config)
        return podium(capsys, "simulate", *files, "--plugin", source(TYPED), "-o", "json")

    (placed,) = run({"points": 7}).decoded()["pods"]
    assert placed["scores"]["Typed"] == {"raw": 7, "normalized": 7, "weighted": 7}
    done = run({"point": 7})
    assert done.code == 2
    assert (
        "profiles[0].pluginConfig[0].args.point: unknown field (plugin Typed); did you mean points?"
    ) in done.err
    assert "pluginConfig[0].args.points: expected `int`, got `str`" in run({"points": "x"}).err


# plugins that break


def broken_at(what: str) -> str:
    return f"""
        from podium.plugin import NodeFilterPlugin, NodeScorePlugin

        class Broken(NodeFilterPlugin, NodeScorePlugin):
            name = "Broken"

            def __init__(self, args, handle):
                super().__init__(args, handle)
                {"raise ValueError('boom')" if what == "constructor" else "pass"}

            def events(self):
                {"raise ValueError('boom')" if what == "events" else "return None"}

            def filter_node(self, pod, node):
                if pod.metadata.name == "bad":
                    {"raise ValueError('boom')" if what == "filter" else "pass"}
                    {"return pod.spec.nothing" if what == "accident" else "pass"}

            def score_node(self, pod, node):
                if pod.metadata.name == "bad":
                    {"raise ValueError('boom')" if what == "score" else "pass"}
                return 1
    """


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("filter", 'running "Broken" filter plugin: boom'),
        ("score", 'running Score plugins: plugin "Broken" failed with: boom'),
        ("accident", "AttributeError: 'PodSpec' object has no attribute 'nothing' (rule.py, line"),
    ],
)
def test_a_plugin_that_raises_fails_its_pod_and_no_other(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, what: str, told: str
) -> None:
    path = write(node("n1"), node("n2"), pod("bad"), pod("good"))
    done = podium(capsys, "simulate", "-f", path, "--plugin", source(broken_at(what)))
    assert (done.code, done.err) == (1, "")
    assert "Failed  1 pod" in done.out
    assert told in done.out
    assert "1 placed, 1 failed" in done.out


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("constructor", 'initializing plugin "Broken": ValueError: boom (rule.py, line '),
        ("events", 'asking plugin "Broken" for its events: ValueError: boom (rule.py, line '),
    ],
)
def test_a_plugin_that_cannot_be_built_stops_before_anything_runs(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, what: str, told: str
) -> None:
    done = podium(
        capsys, "simulate", "-f", write(node(), pod("p")), "--plugin", source(broken_at(what))
    )
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err
