"""Whatever a file holds: an answer, never a traceback; and what is shown loads to the same."""

import json
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_plugins import in_tree

from podium.cli.config_view import effective_yaml
from podium.config import ExtensionPoint
from podium.config.examine import Examination, examine
from podium.plugins import IN_TREE

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
VERSIONS = ("v1", "v1beta1", "v1beta2", "v1beta3")
POINTS = tuple(point.value for point in ExtensionPoint)
NAMES = tuple(plugin.name for plugin in IN_TREE)

quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
# Two of three generated files load, which makes more than 200 round trips.
thorough = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


def answered(data: bytes) -> Examination:
    """An examination that makes sense: it loads, or it says why not."""
    found = examine(data, in_tree())
    assert found.loads == (found.message is None)
    assert found.loads == (not found.mistakes)
    if found.effective is not None:
        effective_yaml(found.effective).encode()
    return found


@quick
@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    answered(data)
    answered(
        b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + data
    )


@quick
@given(st.text(alphabet="{}[]:,-&*!|>'\"%@`#?\n\t aA1.0~<=\\", max_size=200))
def test_any_text_of_signs_gets_an_answer(text: str) -> None:
    answered(text.encode())
    answered(b"{" + text.encode())


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(("1s", "*", "NodeName", "9" * 400, -(2**63), 2**64, 1e300)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(
                ("name", "args", "enabled", "disabled", "weight", "plugins", "score")
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
FIELDS = (
    "parallelism",
    "leaderElection",
    "clientConnection",
    "profiles",
    "extenders",
    "percentageOfNodesToScore",
    "podMaxBackoffSeconds",
    "enableProfiling",
    "predicates",
    "priorities",
    "healthzBindAddress",
)


@quick
@given(
    st.sampled_from((*(f"kubescheduler.config.k8s.io/{v}" for v in VERSIONS), "v1")),
    st.sampled_from(("KubeSchedulerConfiguration", "Policy")),
    st.dictionaries(st.sampled_from(FIELDS), anything | st.lists(anything, max_size=2)),
)
def test_values_of_wrong_types_get_an_answer(
    api_version: str, kind: str, fields: dict[str, Any]
) -> None:
    document = {"apiVersion": api_version, "kind": kind, **fields}
    answered(json.dumps(document).encode())
    answered(yaml.safe_dump(document).encode())


@quick
@given(
    st.sampled_from(("NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "VolumeBinding")),
    anything,
)
def test_arguments_of_wrong_types_get_an_answer(name: str, args: Any) -> None:
    entry = {"name": name, "args": args}
    answered(json.dumps(HEADER | {"profiles": [{"pluginConfig": [entry]}]}).encode())


def test_deep_nesting_is_refused() -> None:
    for opening in (b"[", b'{"a":', b"{a: ", b"- "):
        assert not answered(opening * 100_000).loads
        assert not answered(b'{"a": ' + opening * 100_000).loads


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines.extend(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30))
    found = answered("\n".join(lines).encode())
    assert found.message is not None
    assert "aliases" in found.message


def test_huge_numbers_are_refused_or_kept() -> None:
    for number in ("9" * 5000, "1e999999", "-" + "9" * 5000, "0x" + "f" * 5000, "." + "9" * 5000):
        answered(json.dumps(HEADER).encode()[:-1] + f', "parallelism": {number}}}'.encode())
        answered(yaml.safe_dump(HEADER).encode() + f"parallelism: {number}\n".encode())


refs = st.builds(
    lambda name, weight: {"name": name} | ({"weight": weight} if weight else {}),
    st.sampled_from(NAMES),
    st.integers(0, 50),
)
sets = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.lists(refs, max_size=2, unique_by=lambda ref: ref["name"]),
        "disabled": st.lists(
            st.builds(lambda name: {"name": name}, st.sampled_from((*NAMES, "Nope", "yes"))),
            max_size=3,
        ),
    },
)
names = st.text(min_size=1, max_size=12) | st.sampled_from(
    ("y", "on", "1e3", "0o17", "null", "~", "1_000", "<<", "- a", "a: b", "\x85", "\ufeff", ".inf")
)
plugin_config = st.lists(
    st.sampled_from(
        (
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
            {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 7}},
            {"name": "DynamicResources", "args": {"filterTimeout": "1.5s"}},
            {"name": "ImageLocality", "args": {"free": [1.5, "off", None, {"x": "0x1"}]}},
            {
                "name": "NodeAffinity",
                "args": {
                    "addedAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 3, "preference": {"matchExpressions": []}}
                        ]
                    }
                },
            },
        )
    ),
    unique_by=lambda entry: str(entry["name"]),
    max_size=3,
)


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """Files that mostly load, of any version."""
    version = draw(st.sampled_from(VERSIONS))
    points = [p for p in POINTS if not p.startswith("placement")]
    if version in ("v1", "v1beta3"):
        points.append("multiPoint")
    if version == "v1beta1":
        points.remove("preEnqueue")
    chosen = draw(st.lists(st.sampled_from(points), max_size=3, unique=True))
    profiles = [
        {
            "schedulerName": name,
            "plugins": {point: draw(sets) for point in chosen},
            "pluginConfig": draw(plugin_config),
        }
        for name in draw(st.lists(names, min_size=1, max_size=2, unique=True))
    ]
    return {
        "apiVersion": f"kubescheduler.config.k8s.io/{version}",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": draw(st.integers(1, 2**31 - 1)),
        "clientConnection": {
            "qps": draw(st.floats(0, 1e6, width=32)),
            "kubeconfig": draw(names),
        },
        "podMaxBackoffSeconds": draw(st.integers(1, 2**63 - 1)),
        "profiles": profiles,
    }


@thorough
@given(configurations())
def test_what_show_prints_loads_to_the_same_configuration(document: dict[str, Any]) -> None:
    found = answered(json.dumps(document).encode())
    if found.effective is None:
        return
    again = answered(effective_yaml(found.effective).encode())
    assert again.message is None
    assert again.effective == found.effective
    assert again.expanded == found.expanded
