"""Plugins of users: where they come from, and what is said when something is wrong with them."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from command_line import Write, node, pod, podium, writer

from podium.api.errors import InputError
from podium.cli import user_plugins
from podium.cli.user_plugins import equip, load_plugin
from podium.config.load import load_configuration
from podium.config.types import API_VERSION, KIND
from podium.plugins import in_tree_registry

SAYS_NO = """
    from podium.framework import NodeFilterPlugin

    class SaysNo(NodeFilterPlugin):
        name = "SaysNo"

        def filter_node(self, pod, node):
            return "said no" if pod.metadata.name.startswith("bad") else None
"""

Source = Callable[..., str]


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path) -> Iterator[None]:
    """What a test imports of its own files is gone after it."""
    path = list(sys.path)
    yield
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def source(tmp_path: Path) -> Source:
    def write(text: str, name: str = "rule.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return str(path)

    return write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


@pytest.fixture
def scheduler(tmp_path: Path) -> Callable[..., str]:
    """Writes a configuration of one profile."""

    def write_configuration(**profile: Any) -> str:
        path = tmp_path / "scheduler.yaml"
        raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
        path.write_text(yaml.safe_dump(raw))
        return str(path)

    return write_configuration


# where they come from


def test_a_file_with_one_plugin_needs_no_class_name(source: Source) -> None:
    plugin = load_plugin(source(SAYS_NO))
    assert plugin.name == "SaysNo"


def test_a_file_is_loaded_once(source: Source) -> None:
    path = source(SAYS_NO)
    assert load_plugin(path) is load_plugin(f"{path}:SaysNo")


def test_files_of_the_same_name_do_not_get_into_each_others_way(source: Source) -> None:
    one = load_plugin(source(SAYS_NO, "one/rule.py"))
    two = load_plugin(source(SAYS_NO.replace('"SaysNo"', '"Also"'), "two/rule.py"))
    assert (one.name, two.name) == ("SaysNo", "Also")


def test_what_a_file_imports_and_inherits_is_not_taken_for_its_plugin(source: Source) -> None:
    text = """
        from podium.framework import NodeFilterPlugin
        from podium.plugins.node_name import NodeName

        class Shared(NodeFilterPlugin):
            def filter_node(self, pod, node):
                return None

        class Mine(Shared):
            name = "Mine"
    """
    assert load_plugin(source(text)).name == "Mine"


def test_a_class_of_a_module_is_found_from_the_current_directory(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source(SAYS_NO, "mypackage/rules.py")
    source("", "mypackage/__init__.py")
    monkeypatch.chdir(tmp_path)
    assert load_plugin("mypackage.rules:SaysNo").name == "SaysNo"
    assert load_plugin("mypackage.rules").name == "SaysNo"


def test_a_dataclass_in_a_plugin_file_finds_its_module(source: Source) -> None:
    text = """
        from __future__ import annotations
        from dataclasses import dataclass
        from podium.framework import NodeFilterPlugin

        @dataclass
        class State:
            count: int = 0

        class Counting(NodeFilterPlugin):
            name = "Counting"
    """
    assert load_plugin(source(text)).name == "Counting"


# what can be wrong with one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class X(:\n    pass\n", "line 1: is not Python: invalid syntax"),
        ("x = 1\ny = x / 0\n", "line 2: cannot be loaded: ZeroDivisionError: division by zero"),
        ("import nowhere_at_all\n", "cannot be loaded: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "line 1: cannot be loaded: SystemExit: 3"),
        ("x = 1\n", "holds no plugin; a plugin is a class that inherits NodeFilterPlugin"),
        (
            "from podium.framework import FilterPlugin\nclass A(FilterPlugin):\n    pass\n",
            'A has no name; write `name = "A"` in it',
        ),
        (
            "from podium.framework import FilterPlugin\n"
            "class A(FilterPlugin):\n    name = 'A'\n"
            "class B(FilterPlugin):\n    name = 'B'\n",
            "holds 2 plugins: A, B; say which: ",
        ),
    ],
)
def test_a_file_that_is_wrong_says_what_and_where(source: Source, text: str, told: str) -> None:
    path = source(text)
    with pytest.raises(InputError) as caught:
        load_plugin(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert told in message


def test_bytes_that_are_no_text_are_no_python(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_bytes(b"x = '\xff\xfe'\n")
    with pytest.raises(InputError, match="is not Python"):
        load_plugin(str(path))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("missing.py", "missing.py: cannot be read: no such file or directory"),
        ("no-such thing", "neither a file nor a module; a plugin is given as FILE.py"),
        ("rules/", "neither a file nor a module"),
        ("nowhere_at_all", "--plugin nowhere_at_all: no module named nowhere_at_all"),
        ("podium.nothing:X", "--plugin podium.nothing: no module named podium.nothing"),
        ("podium.plugins.node_name:Nodename", "has no class Nodename; did you mean NodeName?"),
        ("podium.plugins.node_name:Xyz", "has no class Xyz; there is NodeName"),
        ("podium.api.pod:Pod", "Pod is not a plugin: it inherits none of the extension points"),
        ("podium.api.pod", "podium.api.pod: holds no plugin"),
    ],
)
def test_a_plugin_that_is_not_there_says_so(spec: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        load_plugin(spec)
    assert told in str(caught.value)


def test_a_module_that_breaks_names_the_place(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source("import absent_thing\n", "broken_rules.py")
    source("class (:\n", "wrong_rules.py")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"No module named 'absent_thing' .*, line 1"):
        load_plugin("broken_rules:X")
    with pytest.raises(InputError, match=r"is not Python: .* in .*wrong_rules.py, line 1"):
        load_plugin("wrong_rules:X")


def test_a_name_that_is_taken_is_refused(source: Source) -> None:
    path = source(SAYS_NO.replace('"SaysNo"', '"NodeName"'))
    with pytest.raises(InputError) as caught:
        equip(load_configuration(None), in_tree_registry(), [path])
    assert str(caught.value) == (
        f"{path}: plugin name NodeName is taken by podium.plugins.node_name.NodeName"
    )


def test_a_plugin_without_a_point_is_refused(source: Source) -> None:
    text = """
        from podium.framework.points import Plugin

        class Idle(Plugin):
            name = "Idle"
    """
    with pytest.raises(InputError, match="serves no extension point"):
        equip(load_configuration(None), in_tree_registry(), [source(text)])


# in a configuration


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
    from podium.framework import NodeScorePlugin

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
        from podium.framework import NodeFilterPlugin, NodeScorePlugin

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


# entry points


class Offers:
    """Stands in for installed packages."""

    def __init__(self, **values: str) -> None:
        self._offers = [EntryPoint(name, value, "podium.plugins") for name, value in values.items()]

    def add(self, name: str, value: str) -> None:
        self._offers.append(EntryPoint(name, value, "podium.plugins"))

    def __call__(self, *, group: str, name: str) -> list[EntryPoint]:
        return [o for o in self._offers if (o.group, o.name) == (group, name)]


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: Source) -> Offers:
    source(SAYS_NO, "installed_rules.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = Offers(SaysNo="installed_rules:SaysNo")
    monkeypatch.setattr(user_plugins, "entry_points", found)
    return found


def naming(plugin: str) -> Any:
    plugins = {"filter": {"enabled": [{"name": plugin}]}}
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [{"plugins": plugins}]}
    return equip(load_configuration(raw), in_tree_registry(), [])


def test_a_plugin_of_an_installed_package_is_found_by_its_name(offers: Offers) -> None:
    assert "SaysNo" in naming("SaysNo").registry
    assert naming("SaysNo").notes == ()


def test_a_package_that_is_really_installed_is_found(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source(SAYS_NO, "real_rules.py")
    source("Metadata-Version: 2.1\nName: rules\nVersion: 1.0\n", "rules-1.0.dist-info/METADATA")
    source("[podium.plugins]\nSaysNo = real_rules:SaysNo\n", "rules-1.0.dist-info/entry_points.txt")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "SaysNo" in naming("SaysNo").registry


def test_a_package_is_not_loaded_unless_its_plugin_is_named(offers: Offers) -> None:
    offers.add("NodeName", "does_not_exist:X")
    assert "SaysNo" not in naming("NodeName").registry
    assert "installed_rules" not in sys.modules


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("Gone", "does_not_exist:X", "plugin Gone (does_not_exist:X): cannot be loaded: "),
        ("Odd", "podium.api.pod:Pod", "plugin Odd (podium.api.pod:Pod): is not a plugin class"),
        (
            "Other",
            "installed_rules:SaysNo",
            "the class calls itself 'SaysNo', its entry point 'Other'",
        ),
        ("SaysNo", "elsewhere:SaysNo", "several packages offer a plugin named SaysNo: elsewhere"),
    ],
)
def test_an_offer_that_cannot_be_taken_says_why(
    offers: Offers, name: str, value: str, told: str
) -> None:
    offers.add(name, value)
    with pytest.raises(InputError) as caught:
        naming(name)
    assert told in str(caught.value)
