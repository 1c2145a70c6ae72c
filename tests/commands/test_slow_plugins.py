"""A plugin that does not come back: its pod's attempt fails and names it, others go on."""

import json
import logging
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from commands.test_plugin_mistakes import POINTS, configuration, plugin_with, run_with
from support.commands.command_line import Write, node, pod, podium, priority_class, writer
from support.user_code.loop_clock import LoopClock, limit_loops_only
from support.user_code.plugin_files import Source

from podium.user_code.time_limits import DEFAULT_LIMIT_S, call_limited, limit_calls

pytestmark = pytest.mark.usefixtures("wide_output", "own_modules")

QUICK = ("--plugin-timeout", "40ms")
FOR_EVER = "while loop(): pass"
LABELLED = """
    from podium.plugin import NodeFilterPlugin

    class Slow(NodeFilterPlugin):
        name = "Slow"

        def filter_node(self, pod, node):
            {body}
            return None
"""


@pytest.fixture(autouse=True)
def clock() -> Iterator[LoopClock]:
    with limit_loops_only() as clock:
        yield clock
    limit_calls(DEFAULT_LIMIT_S)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def slow(body: str) -> str:
    return dedent(LABELLED).replace("{body}", body)


@pytest.mark.parametrize("point", POINTS)
def test_a_plugin_that_loops_is_ended_and_named_whatever_its_point(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path, point: str
) -> None:
    text = plugin_with(point, FOR_EVER)
    config = tmp_path / "scheduler.json"
    config.write_text(json.dumps(configuration(text)))
    objects = write(node("n1"), node("n2"), pod("small"), pod("too-big", cpu="50"))
    arguments = ("simulate", "-f", objects, "--config", str(config), "--plugin", source(text))
    done = podium(capsys, *arguments, "-o", "json", "--timeline", *QUICK)
    asked = {"filter_node": "filter", "score_node": "score", "__init__": "building"}
    told = done.err if done.code == 2 else done.out
    limit = "0.48s" if point == "__init__" else "0.04s"
    if point not in ("add_pod", "remove_pod", "unreserve", "post_bind"):
        assert f"{asked.get(point, point)} of plugin Mine took longer than {limit} (" in told, done
        assert "--plugin-timeout" in told
    assert "Traceback" not in done.out + done.err


def test_other_pods_are_placed(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    objects = write(node(), pod("stuck"), pod("fine"))
    plugin = source(slow("while pod.metadata.name == 'stuck' and loop(): pass"))
    done = podium(capsys, "simulate", "-f", objects, "--plugin", plugin, "-o", "json", *QUICK)
    results = {each["name"]: each for each in done.decoded()["pods"]}
    assert results["fine"]["node"] == "n1"
    assert results["stuck"]["message"].startswith(
        'running "Slow" filter plugin: filter of plugin Slow took longer than 0.04s ('
    )
    assert results["stuck"]["message"].endswith(
        ": make it quicker, or allow it more with --plugin-timeout"
    )
    assert "not tried again after a plugin took too long: 1 pod" in done.decoded()["notes"]


@pytest.mark.parametrize(
    "body",
    [
        "import time; time.sleep(3600)",
        "import threading; threading.Lock().acquire() and threading.Event().wait()",
        "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
        "[node.free('cpu') for n in iter(int, 1)]",
        "import json\n        while True: json.loads(json.dumps(list(range(100))))",
        "\n        while True:\n            try: node.pods\n            except Exception: pass",
        "\n        for _ in iter(int, 1): sorted(range(1000))",
    ],
)
def test_waiting_and_computing_are_ended_alike(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, body: str
) -> None:
    plugin = source(slow(f"loop(); {body}"))
    objects = write(node(), pod("p"))
    done = podium(capsys, "explain", "p", "-f", objects, "--plugin", plugin, *QUICK)
    assert "filter of plugin Slow took longer than 0.04s" in done.out


def test_a_hint_that_loops_counts_as_yes(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    plugin = source("""
        from podium.plugin import Action, NodeFilterPlugin, Registration, Resource

        class Slow(NodeFilterPlugin):
            name = "Slow"

            def filter_node(self, pod, node):
                return "no" if pod.metadata.name == "waits" and not node.pods else None

            def events(self):
                return [Registration(Resource.ASSIGNED_POD, Action.ADD, self.hint)]

            def hint(self, pod, old, new):
                while loop():
                    pass
    """)
    objects = write(
        node(),
        priority_class("first", 5),
        pod("waits", priorityClassName="first"),
        pod("comes"),
    )
    done = podium(capsys, "story", "waits", "-f", objects, "--plugin", plugin, *QUICK)
    assert "woken" in done.out
    assert done.code == 0


def test_code_that_loops_when_it_is_loaded_is_refused(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    plugin = source(FOR_EVER)
    done = podium(capsys, "simulate", "-f", write(node()), "--plugin", plugin, *QUICK)
    assert done.code == 2
    assert "loading of code" in done.err
    assert "took longer than 0.48s" in done.err


def test_a_source_that_computes_for_ever_has_no_answer(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    plugin = source("""
        from podium.plugin import NodeFilterPlugin, Source

        class Endless(Source):
            name = "endless"

            async def fetch(self):
                while loop():
                    pass

        class Slow(NodeFilterPlugin):
            name = "Slow"

            def sources(self):
                return [Endless()]

            def filter_node(self, pod, node):
                return None
    """)
    done = podium(capsys, "simulate", "-f", write(node(), pod("p")), "--plugin", plugin, *QUICK)
    assert done.code == 0
    assert "source endless cannot be fetched: fetch of source endless took longer than" in done.out


def test_an_awaited_answer_may_take_long(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, tmp_path: Path
) -> None:
    text = plugin_with("pre_bind", "await api.pause(600)")
    done = run_with(capsys, source, write, tmp_path, text, *QUICK)
    assert "took longer" not in done.out


def test_a_trial_of_the_plugin_tells_that_it_does_not_answer_in_time(
    capsys: pytest.CaptureFixture[str], source: Source
) -> None:
    plugin = source(slow("while pod.metadata.name == 'large' and loop(): pass"))
    done = podium(capsys, "plugin", "test", plugin, *QUICK)
    assert "broke, and no further pod is tried: filter of plugin Slow took longer" in done.out
    everywhere = source(slow(FOR_EVER), "everywhere.py")
    done = podium(capsys, "plugin", "test", everywhere, "-o", "json", *QUICK)
    assert [each["promise"] for each in done.decoded()["broken"]] == ["answers in time"]


@pytest.mark.parametrize("given", ["soon", "5", "-1s"])
def test_a_limit_is_a_duration(
    capsys: pytest.CaptureFixture[str], write: Write, given: str
) -> None:
    done = podium(capsys, "simulate", "-f", write(node()), "--plugin-timeout", given)
    assert done.code == 2
    assert "--plugin-timeout" in done.err


def test_what_catches_every_exception_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture, clock: LoopClock
) -> None:
    limit_calls(0.02)
    told = caplog.handler.records

    def wait() -> None:
        while not told:
            try:
                signal.pause()
            except BaseException:
                continue

    # The jump back to the head of a loop is outside `try`, and from Python 3.12 on signals are
    # handled there: a second loop catches what the first one cannot.
    def swallow() -> int:
        while clock.loop() and not told:
            try:
                wait()
            except BaseException:
                continue
        return 7

    with caplog.at_level(logging.ERROR, "podium.user_code"):
        answer = call_limited("plugin Deaf", "score", __name__, swallow)
    assert answer == 7
    (record,) = told
    assert "plugin Deaf: score has taken" in record.getMessage()
    assert "cannot be interrupted: everything waits for it" in record.getMessage()


def test_without_a_limit_nothing_is_ended() -> None:
    limit_calls(0)
    assert call_limited("plugin Slow", "score", __name__, sum, (range(2_000_000),)) > 0


ENDS = """
    import weakref

    from podium.plugin import NodeFilterPlugin, unresolvable

    class Held:
        pass

    def give(held):
        while loop():
            yield held

    class Slow(NodeFilterPlugin):
        name = "Slow"
        held = []

        def filter_node(self, pod, node):
            if pod.metadata.name == "last":
                left = sum(each() is not None for each in self.held)
                return unresolvable(f"{left} of {len(self.held)} are left")
            held = Held()
            self.held.append(weakref.ref(held))
            {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "while loop(): pass",
        "for _ in give(held): pass",
        """try:
            while loop(): pass
        except BaseException as late:
            raise ValueError("mine") from late""",
        """try:
            while loop(): pass
        except BaseException:
            raise KeyError("mine")""",
        """try:
            while loop(): pass
        finally:
            del self""",
        """raise RuntimeError("at once")""",
    ],
    ids=["loop", "generator", "from", "context", "finally", "error"],
)
def test_nothing_is_kept_of_what_a_call_had_that_ended_badly(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, body: str
) -> None:
    objects = write(node(), pod("first"), pod("second"), pod("last"))
    plugin = source(dedent(ENDS).replace("{body}", body))
    done = podium(capsys, "simulate", "-f", objects, "--plugin", plugin, "-o", "json", *QUICK)
    results = {each["name"]: each for each in done.decoded()["pods"]}
    assert re.search(r" 0 of \d+ are left", results["last"]["message"])
