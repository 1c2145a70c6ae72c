"""Plugins of users: where they come from, and what is said of a file that is wrong."""

from pathlib import Path

import pytest
from support.user_code.plugin_files import SAYS_NO, Source

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip, load_plugin

pytestmark = pytest.mark.usefixtures("own_modules")


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
        from podium.plugin import NodeFilterPlugin
        from podium.scheduler.plugins.node_name import NodeName

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
        from podium.plugin import NodeFilterPlugin

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
            "from podium.plugin import FilterPlugin\nclass A(FilterPlugin):\n    pass\n",
            'A has no name; write `name = "A"` in it',
        ),
        (
            "from podium.plugin import FilterPlugin\n"
            "class A(FilterPlugin):\n    name = 'A'\n"
            "class B(FilterPlugin):\n    name = 'B'\n",
            "holds 2 plugins: A, B; say which: ",
        ),
        (
            "from podium.plugin import FilterPlugin\n"
            "class A(FilterPlugin):\n    name = 'A'\n    informed_of = ('Node', 'Pod')\n",
            "informed_of of A names no kinds: ('Node', 'Pod'); write a tuple of classes",
        ),
        (
            "from podium.plugin import FilterPlugin, Pod\n"
            "class A(FilterPlugin):\n    name = 'A'\n    informed_of = Pod\n",
            "informed_of of A names no kinds: <class 'podium.kubernetes.kinds.pod.Pod'>; write a",
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
        (
            "podium.scheduler.plugins.node_name:Nodename",
            "has no class Nodename; did you mean NodeName?",
        ),
        ("podium.scheduler.plugins.node_name:Xyz", "has no class Xyz; there is NodeName"),
        (
            "podium.kubernetes.kinds.pod:Pod",
            "Pod is not a plugin: it inherits none of the extension points",
        ),
        ("podium.kubernetes.kinds.pod", "podium.kubernetes.kinds.pod: holds no plugin"),
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
        equip(load_configuration(None, gates=FeatureGates()), in_tree_registry(), [path])
    assert str(caught.value) == (
        f"{path}: plugin name NodeName is taken by podium.scheduler.plugins.node_name.NodeName"
    )


def test_a_plugin_without_a_point_is_refused(source: Source) -> None:
    text = """
        from podium.scheduler.framework.points import Plugin

        class Idle(Plugin):
            name = "Idle"
    """
    with pytest.raises(InputError, match="serves no extension point"):
        equip(load_configuration(None, gates=FeatureGates()), in_tree_registry(), [source(text)])
