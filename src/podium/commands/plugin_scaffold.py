"""The files that `podium plugin new` writes: a plugin that works, its test, and a configuration.

What is written is to be changed by its reader: it is short, does something that can be seen on any
cluster, and passes `podium plugin test` as it stands.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.scheduler.framework.registry import PluginRegistry

Form = Literal["filter", "score", "both", "vector"]

MAX_NAME: Final = 64
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_FILTER_CLASS: Final = '''
    def filter_node(self, pod: Pod, node: NodeView) -> str | None:
        """None if the node may take the pod, or why not."""
        wanted = (pod.metadata.labels or {}).get(LABEL)
        if wanted is None or node.labels.get(LABEL) == wanted:
            return None
        return "node(s) were of another tier"
'''
_SCORE_CLASS: Final = '''
    def score_node(self, pod: Pod, node: NodeView) -> int:
        """The larger, the better: pods go where the most of their kind are not."""
        app = (pod.metadata.labels or {}).get("app")
        return -sum(1 for each in node.pods if (each.metadata.labels or {}).get("app") == app)
'''
_PURPOSE: Final = "say here what it is for, and how pods and nodes ask for it."
_NODE_FORM: Final = Template('''"""$name: $purpose"""

$imports


class $name($bases):
    name = "$name"
$body''')
_VECTOR_FORM: Final = Template('''"""$name: $purpose

It answers for all nodes at once, and says what its answers depend on so that they are remembered.
"""

from typing import Annotated

import msgspec
import numpy as np

from podium.plugin import (
    Cycle,
    Dependence,
    FilterPlugin,
    Ints,
    Rows,
    ScorePlugin,
    Verdict,
    rejecting,
    unschedulable,
)

FULL = unschedulable("node(s) had as many pods as they may have")


class $name(FilterPlugin, ScorePlugin):
    name = "$name"
    in_range = True  # scores cannot leave 0..100

    class Args(msgspec.Struct, rename="camel"):
        max_pods: Annotated[int, msgspec.Meta(ge=1)] = 50

    args: Args

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(cycle.usage.pod_count[rows] >= self.args.max_pods, FULL)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        share = cycle.usage.pod_count[rows] * 100 // self.args.max_pods
        scores: Ints = np.maximum(0, 100 - share)
        return scores

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=True)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=True)
''')
_TEST: Final = Template('''"""What $name promises; run with `python -m pytest $test`."""

from podium.testing import FakeCluster, assert_placed, assert_promises, make_node, make_pod

from $module import $name

$objects


def test_$goes() -> None:
    cluster = FakeCluster($given, plugins=[$name])
    decision = cluster.schedule($pod)
    assert_placed(decision, on="b")


def test_its_promises_are_kept() -> None:
    assert_promises($name)
''')
_CONFIGURATION: Final = Template("""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: $name
            weight: 2
$arguments""")
_ARGUMENTS: Final = Template("""    pluginConfig:
      - name: $name
        args:
          maxPods: 50
""")


class _Example(NamedTuple):
    """What a test begins with: objects, how they are given, and a pod that goes to node b."""

    objects: str
    given: str
    pod: str
    goes: str


_TIERS: Final = """NODES = (
    make_node("a", labels={"example.com/tier": "gold"}),
    make_node("b", labels={"example.com/tier": "silver"}),
)"""
_RUNNING: Final = """NODES = (make_node("a"), make_node("b"))
RUNNING = make_pod("first", labels={"app": "web"}, node="a")"""
_TIERED: Final = _Example(
    _TIERS,
    "*NODES",
    'make_pod("web", labels={"example.com/tier": "silver"})',
    "a_pod_goes_to_a_node_of_its_tier",
)
_SPREAD: Final = _Example(
    _RUNNING,
    "*NODES, RUNNING",
    'make_pod("web", labels={"app": "web"})',
    "a_pod_goes_where_its_like_are_not",
)
_EXAMPLES: Final[dict[Form, _Example]] = {
    "filter": _TIERED,
    "both": _TIERED,
    "score": _SPREAD,
    "vector": _SPREAD,
}


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Texts by the names of their files; the plugin's own file is the first, then its test and its
    configuration."""

    name: str
    files: dict[str, str]

    def write(self, directory: Path) -> list[Path]:
        """Raises InputError if one of them is there already, before anything is written."""
        paths = [directory / file for file in self.files]
        for path in paths:
            if path.exists():
                remedy = "choose another name, or another place with --directory"
                raise InputError("is there already", source=str(path), remedy=remedy)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for path, text in zip(paths, self.files.values(), strict=True):
                path.write_text(text)
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", source=str(path)) from None
        return paths


def make_scaffold(name: str, form: Form, taken: "PluginRegistry") -> Scaffold:
    """`taken` has the plugins whose names are not free. Raises InputError."""
    name, module = _check_name(name, taken)
    test = f"test_{module}.py"
    example = _EXAMPLES[form]
    text = _TEST.substitute(
        name=name,
        module=module,
        test=test,
        objects=example.objects,
        goes=example.goes,
        given=example.given,
        pod=example.pod,
    )
    arguments = _ARGUMENTS.substitute(name=name) if form == "vector" else ""
    return Scaffold(
        name,
        {
            f"{module}.py": _plugin(name, form),
            test: text,
            f"{module}.yaml": _CONFIGURATION.substitute(name=name, arguments=arguments),
        },
    )


def _plugin(name: str, form: Form) -> str:
    if form == "vector":
        return _VECTOR_FORM.substitute(name=name, purpose=_PURPOSE)
    filters, scores = form in ("filter", "both"), form in ("score", "both")
    bases = [*["NodeFilterPlugin"] * filters, *["NodeScorePlugin"] * scores]
    label = '\n\nLABEL = "example.com/tier"' if filters else ""
    imports = f"from podium.plugin import {', '.join([*bases, 'NodeView', 'Pod'])}"
    rescale = "    rescale = True  # whatever the range, the best node gets 100 and the worst 0\n"
    body = (rescale if scores else "") + _FILTER_CLASS * filters + _SCORE_CLASS * scores
    return _NODE_FORM.substitute(
        name=name, purpose=_PURPOSE, imports=imports + label, bases=", ".join(bases), body=body
    )


def _check_name(name: str, taken: "PluginRegistry") -> tuple[str, str]:
    """The name and that of its module."""
    remedy = "write it as a class is written, such as ZonePrice"
    words = _WORDS.findall(name)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name) or len(name) > MAX_NAME:
        raise InputError(f"{name!r} cannot be the name of a plugin", remedy=remedy)
    if not name[0].isupper():
        camel = "".join(word[0].upper() + word[1:] for word in words)
        raise InputError(f"{name!r} cannot be the name of a plugin", remedy=f"write {camel}")
    if name in taken:
        raise InputError(f"there is a plugin named {name} already", remedy="choose another name")
    return name, "_".join(word.lower() for word in words)
