"""Whatever a file holds: an answer, never a traceback; and what is shown loads to the same."""

import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.effective import effective_yaml
from podium.scheduler.config.examine import Examination, examine
from podium.scheduler.config.plugin_args import ARGS_KINDS
from podium.scheduler.config.typed_args import LEGACY_ARGS_KINDS
from podium.scheduler.config.types import ExtensionPoint
from podium.scheduler.plugins import IN_TREE

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
VERSIONS = ("v1", "v1beta1", "v1beta2", "v1beta3")
POINTS = tuple(point.value for point in ExtensionPoint)
NAMES = tuple(plugin.name for plugin in IN_TREE)

quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(quick, max_examples=40)
# Two of three generated files load, which makes more than 200 round trips.
thorough = settings(quick, max_examples=400)


def answered(data: bytes) -> Examination:
    """An examination that makes sense: it loads, or it says why not."""
    found = examine(data, in_tree(), gates=FeatureGates())
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


WITH_ARGS = tuple(sorted({*ARGS_KINDS, *LEGACY_ARGS_KINDS}))
ARG_FIELDS = tuple(
    sorted(
        {
            field.encode_name
            for kind in (*ARGS_KINDS.values(), *LEGACY_ARGS_KINDS.values())
            for field in msgspec.structs.fields(kind)
        }
    )
)


@quick
@given(
    st.sampled_from(VERSIONS),
    st.sampled_from(WITH_ARGS),
    anything | st.dictionaries(st.sampled_from(ARG_FIELDS), anything, max_size=3),
)
def test_arguments_of_wrong_types_get_an_answer(version: str, name: str, args: Any) -> None:
    header = HEADER | {"apiVersion": f"kubescheduler.config.k8s.io/{version}"}
    entry = {"name": name, "args": args}
    answered(json.dumps(header | {"profiles": [{"pluginConfig": [entry]}]}).encode())


@quick
@given(st.dictionaries(st.sampled_from(("policy.cfg", "other")), anything), anything)
def test_any_config_map_gets_an_answer(data: dict[str, Any], inner: Any) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "data": data}
    answered(json.dumps(config_map).encode())
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": inner, "extenders": inner}
    config_map["data"] = {"policy.cfg": json.dumps(policy)}
    answered(yaml.safe_dump(config_map).encode())


WHOLE = yaml.safe_dump(
    HEADER
    | {
        "parallelism": 4,
        "leaderElection": {"leaseDuration": "20s"},
        "profiles": [
            {
                "schedulerName": "a",
                "plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 3}]}},
                "pluginConfig": [{"name": "InterPodAffinity", "args": {}}],
            }
        ],
        "extenders": [{"urlPrefix": "http://e", "httpTimeout": "1s"}],
    }
).encode()


SLIPS = (b"", b" ", b"\n", b"\t", b"- ", b": ", b'"', b"&a *a", b"[")


@quick
@given(st.data())
def test_a_file_with_slips_of_the_pen_gets_an_answer(data: st.DataObject) -> None:
    text = json.dumps(yaml.safe_load(WHOLE)).encode() if data.draw(st.booleans()) else WHOLE
    for _ in range(data.draw(st.integers(1, 3))):
        at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 8))
        slip = data.draw(
            st.sampled_from((b"", b" ", b"\n", b"\t", b"- ", b": ", b'"', b"&a *a", b"["))
        )
        text = text[:at] + slip + text[at + length :]
    answered(text)


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


def show_and_load(document: dict[str, Any]) -> None:
    """Print what a file comes to, load that, and compare."""
    found = answered(json.dumps(document).encode())
    if found.effective is None:
        return
    again = answered(effective_yaml(found.effective).encode())
    assert again.message is None
    assert again.effective == found.effective
    assert again.expanded == found.expanded


@few
@given(configurations())
def test_what_show_prints_loads_to_the_same_configuration(document: dict[str, Any]) -> None:
    show_and_load(document)


@pytest.mark.slow
@thorough
@given(configurations())
def test_what_show_prints_of_many_files_loads_to_the_same(document: dict[str, Any]) -> None:
    show_and_load(document)
