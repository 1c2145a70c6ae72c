"""Small clusters of nodes and pods with all kinds of amounts, and their books kept node by node.

The resource plugins are compared with rules written over a `NodeBook`: plain Python numbers that
are added up from the objects, without the cluster's columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node, make_pod

GPU = "example.com/gpu"
HUGE = "hugepages-2Mi"
NODES = ("a", "b", "c", "d")

Amounts = dict[str, Any]


@dataclass
class NodeBook:
    """What one node has, and what its pods take."""

    allocatable: Mapping[str, int]
    requested: dict[str, int] = field(default_factory=dict)
    nonzero: dict[str, int] = field(default_factory=lambda: {"cpu": 0, "memory": 0})
    pods: int = 0


@dataclass(frozen=True)
class ResourceCase:
    cluster: Cluster
    books: Mapping[str, NodeBook]
    requests: Amounts


def _amounts(**choices: st.SearchStrategy[Any]) -> st.SearchStrategy[Amounts]:
    names = {"cpu": "cpu", "memory": "memory", "storage": "ephemeral-storage", "gpu": GPU}
    names["huge"] = HUGE
    return st.fixed_dictionaries({}, optional={names[key]: s for key, s in choices.items()})


allocatables = st.builds(
    lambda amounts, pods: {**amounts, **pods},
    _amounts(
        cpu=st.sampled_from(["0", "900m", "4", "16", "96"]),
        # The largest are beyond what float64 percentages are exact for.
        memory=st.sampled_from(["0", "1Gi", "8Gi", "64Gi", "16Ti", "33Ti", "60000000000000001"]),
        storage=st.sampled_from(["0", "10Gi", "1Ti"]),
        gpu=st.sampled_from(["0", "1", "8"]),
        huge=st.sampled_from(["0", "1Gi"]),
    ),
    st.fixed_dictionaries({}, optional={"pods": st.sampled_from([0, 1, 2, 110])}),
)

requests = _amounts(
    cpu=st.sampled_from(["0", "1m", "700m", "1500m", "3", "20"]),
    memory=st.sampled_from(["0", "1", "900Mi", "1Gi", "7Gi", "15Ti"]),
    storage=st.sampled_from(["0", "1Gi", "9Gi"]),
    gpu=st.sampled_from(["0", "1", "3"]),
    huge=st.sampled_from(["0", "2Mi", "1Gi"]),
)


@st.composite
def resource_cases(draw: st.DrawFn) -> ResourceCase:
    """A cluster, its books, and what a pending pod requests."""
    offered = {name: draw(allocatables) for name in NODES}
    placed = draw(st.lists(st.tuples(st.sampled_from(NODES), requests), max_size=8))
    gone = draw(st.sets(st.sampled_from(NODES), max_size=2))
    pods = [make_pod(f"p{i}", node=node, requests=r) for i, (node, r) in enumerate(placed)]
    cluster = make_cluster([make_node(n, allocatable=offered[n] or {"x": 1}) for n in NODES], pods)
    books = {name: NodeBook(allocatable_vector(offered[name])) for name in NODES}
    for pod in pods:
        book, shape = books[pod.spec.node_name], cluster.infos.of(pod).shape
        for name, amount in shape.accounted.items():
            book.requested[name] = book.requested.get(name, 0) + amount
        book.nonzero["cpu"] += shape.accounted_nonzero[0]
        book.nonzero["memory"] += shape.accounted_nonzero[1]
        book.pods += 1
    for name in gone:
        cluster.remove_node(name)
        del books[name]
    return ResourceCase(cluster, books, draw(requests))
