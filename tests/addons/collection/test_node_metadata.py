"""NodeMetadata: nodes by a number or a moment that they carry."""

from typing import Any

import pytest
from msgspec.structs import replace

from podium.addons.collection.node_scores import NodeMetadata
from podium.kubernetes.kinds.node import Node
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import FakeCluster, assert_promises, assert_scores, make_node, make_pod

COST = {
    "metadataKey": "cost",
    "metadataSource": "Label",
    "metadataType": "Number",
    "scoringStrategy": "Lowest",
}
BORN = {
    "metadataKey": "example.com/born",
    "metadataSource": "Annotation",
    "metadataType": "Timestamp",
    "scoringStrategy": "Newest",
}


def annotated(name: str, **annotations: str) -> Node:
    node = make_node(name)
    written = {f"example.com/{key}": value for key, value in annotations.items()}
    return replace(node, metadata=replace(node.metadata, annotations=written))


def check(nodes: list[Node], args: dict[str, Any], expected: dict[str, int]) -> None:
    cluster = FakeCluster(*nodes, plugins=[NodeMetadata], args={"NodeMetadata": args})
    assert_scores(cluster.schedule(make_pod("web")), "NodeMetadata", expected)


@pytest.mark.parametrize(
    ("strategy", "values", "scores"),
    [
        ("Lowest", ["10", "20", "30"], [100, 50, 1]),
        ("Highest", ["10", "20", "30"], [1, 50, 100]),
        ("Highest", ["10", "20", None], [1, 100, 0]),
        ("Highest", ["10", "cheap", "30"], [1, 0, 100]),
        ("Highest", ["7", "7", "7"], [1, 1, 1]),
        ("Highest", [None, None, None], [0, 0, 0]),
        ("Highest", ["-1.9", "0", "1.9"], [1, 50, 100]),
        ("Highest", ["1e3", "1_000", "nan"], [1, 0, 0]),
        ("Highest", ["1e300", "2", "1"], [0, 100, 1]),
        ("Highest", ["-9e18", "0", "9e18"], [1, 50, 100]),
    ],
)
def test_numbers_are_stretched_from_1_to_100_and_nothing_gets_0(
    strategy: str, values: list[str | None], scores: list[int]
) -> None:
    nodes = [
        make_node(f"n{at}", labels={} if value is None else {"cost": value})
        for at, value in enumerate(values)
    ]
    expected = {f"n{at}": score for at, score in enumerate(scores)}
    check(nodes, {**COST, "scoringStrategy": strategy}, expected)


@pytest.mark.parametrize(
    ("strategy", "scores"), [("Newest", [1, 34, 100]), ("Oldest", [100, 67, 1])]
)
def test_moments_are_rated_by_age(strategy: str, scores: list[int]) -> None:
    born = ("2026-01-01T00:00:00Z", "2026-01-02T01:00:00+01:00", "2026-01-04T00:00:00Z")
    nodes = [annotated(f"n{at}", born=text) for at, text in enumerate(born)]
    expected = {f"n{at}": score for at, score in enumerate(scores)}
    check(nodes, {**BORN, "scoringStrategy": strategy}, expected)


def test_a_layout_of_ones_own_is_written_as_go_writes_it() -> None:
    nodes = [annotated("a", born="Jan  1 2026"), annotated("b", born="Mar 11 2026")]
    nodes.append(annotated("c", born="2026-01-01"))
    args = {**BORN, "timestampFormat": "Jan _2 2006"}
    check(nodes, args, {"a": 1, "b": 100, "c": 0})


def test_a_changed_label_counts_at_once() -> None:
    nodes = [make_node(name, labels={"cost": cost}) for name, cost in (("a", "1"), ("b", "2"))]
    cluster = FakeCluster(*nodes, plugins=[NodeMetadata], args={"NodeMetadata": COST})
    assert_scores(cluster.schedule(make_pod("web")), "NodeMetadata", {"a": 100, "b": 1})
    cluster.put(make_node("a", labels={"cost": "3"}))
    assert_scores(cluster.schedule(make_pod("next")), "NodeMetadata", {"a": 1, "b": 100})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"metadataKey": ""}, "args.metadataKey"),
        ({"metadataSource": "Status"}, "args.metadataSource"),
        ({"metadataType": "Text"}, "args.metadataType"),
        ({"scoringStrategy": "Best"}, "args.scoringStrategy"),
        ({"scoringStrategy": "Newest"}, "write Highest or Lowest"),
        ({"metadataType": "Timestamp"}, "write Newest or Oldest"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(
    change: dict[str, Any], text: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        FakeCluster(plugins=[NodeMetadata], args={"NodeMetadata": {**COST, **change}})
    assert text in str(refusal.value.problems[0])


def test_arguments_are_required() -> None:
    with pytest.raises(ConfigurationError):
        FakeCluster(plugins=[NodeMetadata])


def test_it_keeps_its_promises() -> None:
    nodes = [make_node(name, labels={"cost": cost}) for name, cost in (("a", "1"), ("b", "2"))]
    assert_promises(NodeMetadata, args=COST, nodes=nodes)
    assert_promises(NodeMetadata, args=BORN, nodes=[annotated("a", born="2026-01-01T00:00:00Z")])
