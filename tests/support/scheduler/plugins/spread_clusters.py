"""Clusters to spread pods in: random small ones, and the one of the worked examples."""

from typing import Any

from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node, make_pod

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"

selectors = st.sampled_from(
    (
        None,
        {},
        {"matchLabels": {"app": "a"}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
        {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
    )
)
policies = st.sampled_from((None, "Honor", "Ignore"))
pod_labels = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from("abc"), "tier": st.sampled_from("xy")}
)


def constraints(action: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "maxSkew": st.integers(1, 3),
            "topologyKey": st.sampled_from((ZONE, HOSTNAME, "rack")),
            "whenUnsatisfiable": st.just(action),
            "labelSelector": selectors,
            "minDomains": st.none() | st.integers(1, 4) if action == "DoNotSchedule" else st.none(),
            "nodeAffinityPolicy": policies,
            "nodeTaintsPolicy": policies,
            "matchLabelKeys": st.sampled_from((None, ["tier"], ["tier", "missing"])),
        }
    )


@st.composite
def node_lists(draw: st.DrawFn) -> list[Node]:
    nodes = []
    for index in range(draw(st.integers(1, 7))):
        labels = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    ZONE: st.sampled_from(("a", "b", "")),
                    "rack": st.sampled_from(("r1", "r2", "r3")),
                    "disk": st.sampled_from(("ssd", "hdd")),
                },
            )
        )
        if draw(st.integers(0, 5)):
            labels[HOSTNAME] = f"n{index}"
        tainted = draw(st.sampled_from((None, None, "NoSchedule", "PreferNoSchedule")))
        taints = [("dedicated", "x", tainted)] if tainted else []
        nodes.append(make_node(f"n{index}", labels=labels, taints=taints))
    return nodes


@st.composite
def placed_pods(draw: st.DrawFn) -> list[Pod]:
    """Pods on n0 to n8; a node that does not exist holds pods all the same."""
    pods = []
    for index in range(draw(st.integers(0, 12))):
        leaving = {"deletionTimestamp": "2025-01-01T00:00:00Z"} if draw(st.booleans()) else {}
        pods.append(
            make_pod(
                f"p{index}",
                namespace=draw(st.sampled_from(("default", "default", "other"))),
                labels=draw(pod_labels),
                node=f"n{draw(st.integers(0, 8))}",
                metadata=leaving if index % 3 == 0 else None,
            )
        )
    return pods


def pending_pods(action: str) -> st.SearchStrategy[Pod]:
    return st.builds(
        lambda labels, spread, selector, tolerations: make_pod(
            "pending",
            labels=labels,
            topologySpreadConstraints=spread,
            nodeSelector=selector,
            tolerations=tolerations,
        ),
        pod_labels,
        st.lists(constraints(action), min_size=1, max_size=3),
        st.sampled_from((None, None, {"disk": "ssd"})),
        st.sampled_from(((), ({"operator": "Exists"},))),
    )


def spread(**fields: Any) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
        **fields,
    }


def example_cluster() -> Cluster:
    """Zone a holds 3 matching pods, zone b 1; n4 has no zone."""
    zones = {"n1": "a", "n2": "a", "n3": "b", "n4": None}
    nodes = [
        make_node(name, labels={HOSTNAME: name, **({ZONE: zone} if zone else {})})
        for name, zone in zones.items()
    ]
    a = {"app": "a"}
    return make_cluster(
        nodes,
        [
            *(make_pod(f"p{i}", labels=a, node=n) for i, n in enumerate(("n1", "n1", "n2", "n3"))),
            make_pod("p4", labels=a, node="n4"),
            make_pod("left", labels=a, node="n3", metadata={"deletionTimestamp": "2025-01-01"}),
            make_pod("elsewhere", labels=a, node="n3", namespace="other"),
        ],
    )
