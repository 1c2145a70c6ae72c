"""NodeResourcesAllocatable: small nodes first, or large ones."""

import pytest

from podium.addons.collection.node_scores import (
    NodeResourcesAllocatable,
    WeightedResource,
)
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import (
    FakeCluster,
    assert_promises,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    score_answers,
    scores_of,
)

SIZES = {"small": ("4", "16Gi"), "middle": ("8", "32Gi"), "large": ("16", "64Gi")}
NODES = [
    make_node(name, allocatable={"cpu": cpu, "memory": memory, "pods": 10})
    for name, (cpu, memory) in SIZES.items()
]


def normalized(args: dict[str, object] | None = None) -> dict[str, int]:
    given = {"NodeResourcesAllocatable": args} if args is not None else None
    cluster = FakeCluster(*NODES, plugins=[NodeResourcesAllocatable], args=given)
    return scores_of(cluster.schedule(make_pod("web")), "NodeResourcesAllocatable")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (None, {"small": 100, "middle": 66, "large": 0}),
        ({"mode": "Least"}, {"small": 100, "middle": 66, "large": 0}),
        ({"mode": "Most"}, {"small": 0, "middle": 33, "large": 100}),
        (
            {"mode": "Most", "resources": [{"name": "example.com/none", "weight": 1}]},
            {"small": 0, "middle": 0, "large": 0},
        ),
        (
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1beta3",
                "kind": "NodeResourcesAllocatableArgs",
                "mode": "Most",
                "resources": [{"name": "cpu", "weight": 1000000}, {"name": "memory", "weight": 1}],
            },
            {"small": 0, "middle": 33, "large": 100},
        ),
    ],
)
def test_nodes_are_rated_by_their_size(
    args: dict[str, object] | None, expected: dict[str, int]
) -> None:
    assert normalized(args) == expected


def test_truncation_is_toward_zero() -> None:
    nodes = [
        make_node(name, allocatable={"cpu": f"{milli}m", "memory": "1Gi", "pods": 10})
        for name, milli in (("a", 1001), ("b", 1002))
    ]
    cluster = make_cluster(nodes)
    args = NodeResourcesAllocatable.Args(
        resources=(WeightedResource("cpu", 1), WeightedResource("example.com/x", 1))
    )
    plugin = NodeResourcesAllocatable(args, make_handle(cluster))
    answers = score_answers(plugin, make_pod("web"), cluster)
    assert answers == ({"a": -500, "b": -501}, {"a": 100, "b": 0})


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"mode": "Middle"}, "args.mode"),
        ({"resources": [{"name": "cpu", "weight": 0}]}, "args.resources"),
        ({"resources": [{"name": "cpu"}]}, "args.resources"),
        ({"kind": "CoschedulingArgs"}, "args.kind"),
        ({"apiVersion": "apps/v1"}, "args.apiVersion"),
        ({"resource": []}, "args.resource"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(args: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        normalized(args)
    assert text in str(refusal.value.problems[0])


def test_it_keeps_its_promises() -> None:
    assert_promises(NodeResourcesAllocatable, nodes=NODES)
    assert_promises(NodeResourcesAllocatable, args={"mode": "Most"})
