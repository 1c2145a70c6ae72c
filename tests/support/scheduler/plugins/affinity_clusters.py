"""Random small clusters of pods that care about each other."""

from typing import Any

import msgspec
from hypothesis import strategies as st
from support.scheduler.plugins.affinity_reference import Namespaces

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node, make_pod

KEYS = ("zone", "host", "rack")
NAMESPACES: Namespaces = {"default": {"team": "x"}, "other": {"team": "y"}, "plain": {}}

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_label_selectors = st.sampled_from(
    (
        None,
        {},
        {"matchLabels": {"app": "a"}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
    )
)
_namespace_selectors = st.sampled_from(
    (
        None,
        None,
        {},
        {"matchLabels": {"team": "x"}},
        {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]},
        {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    )
)
terms = st.fixed_dictionaries(
    {
        "topologyKey": st.sampled_from(KEYS),
        "labelSelector": _label_selectors,
        "namespaces": st.sampled_from((None, None, ["other"], ["default", "nowhere"])),
        "namespaceSelector": _namespace_selectors,
    }
)
_weighted = st.fixed_dictionaries({"weight": st.sampled_from((1, 2, 5)), "podAffinityTerm": terms})
_sides = st.fixed_dictionaries(
    {},
    optional={
        REQUIRED: st.lists(terms, min_size=1, max_size=2),
        PREFERRED: st.lists(_weighted, min_size=1, max_size=2),
    },
)
affinities = st.none() | st.fixed_dictionaries(
    {}, optional={"podAffinity": _sides, "podAntiAffinity": _sides}
)
_namespaces = st.sampled_from(("default", "other", "plain", "unknown"))
_labels = st.fixed_dictionaries({}, optional={"app": st.sampled_from("abc")})


@st.composite
def node_lists(draw: st.DrawFn) -> list[Node]:
    nodes = []
    for index in range(draw(st.integers(1, 6))):
        labels = draw(
            st.fixed_dictionaries(
                {}, optional={"zone": st.sampled_from("ab"), "rack": st.sampled_from("12")}
            )
        )
        if draw(st.integers(0, 4)):
            labels["host"] = f"n{index}"
        nodes.append(make_node(f"n{index}", labels=labels))
    return nodes


@st.composite
def pod_lists(draw: st.DrawFn) -> list[Pod]:
    """Pods on n0 to n7, of which some do not exist; some of the pods are terminating."""
    return [
        make_pod(
            f"p{index}",
            namespace=draw(_namespaces),
            labels=draw(_labels),
            node=f"n{draw(st.integers(0, 7))}",
            affinity=draw(affinities),
            metadata={"deletionTimestamp": "2025-01-01T00:00:00Z"} if index % 4 == 3 else None,
        )
        for index in range(draw(st.integers(0, 8)))
    ]


pending_pods = st.builds(
    lambda namespace, labels, affinity: make_pod(
        "pending", namespace=namespace, labels=labels, affinity=affinity
    ),
    _namespaces,
    _labels,
    affinities,
)


def cluster_of(nodes: list[Node], pods: list[Pod]) -> Cluster:
    cluster = make_cluster(nodes, pods)
    for name, labels in NAMESPACES.items():
        put_namespace(cluster, name, dict(labels))
    return cluster


def put_namespace(cluster: Cluster, name: str, labels: dict[str, str]) -> None:
    raw = {"metadata": {"name": name, "labels": labels}}
    cluster.catalog.put(msgspec.convert(raw, Namespace))


def required(kind: str, *written: dict[str, Any]) -> dict[str, Any]:
    return {kind: {REQUIRED: list(written)}}


def preferred(kind: str, *written: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {
        kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": term} for weight, term in written]}
    }


def term(app: str | None = "a", key: str = "host", **fields: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}} if app else {}
    return {"topologyKey": key, "labelSelector": selector, **fields}
