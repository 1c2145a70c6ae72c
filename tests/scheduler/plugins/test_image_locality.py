"""ImageLocality: images that are already there."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.nodes import canonical_image
from podium.scheduler.plugins.image_locality import ImageLocality
from podium.testing import make_cluster, make_handle, make_node, make_pod, score_answers

MIB = 1024 * 1024

PLUGIN = ImageLocality(None, make_handle())

IMAGES = ("a:latest", "a:v1", "reg:5000/b:latest", "c@sha256:00")
sizes = st.sampled_from((0, 1, 22 * MIB, 23 * MIB, 70 * MIB + 7, 999 * MIB, 3000 * MIB))


def image_pod(*images: str, init: tuple[str, ...] = (), volumes: tuple[str, ...] = ()) -> Any:
    return make_pod(
        "p",
        containers=[{"name": f"c{i}", "image": image} for i, image in enumerate(images)],
        initContainers=[{"name": f"i{i}", "image": image} for i, image in enumerate(init)],
        volumes=[{"name": f"v{i}", "image": {"reference": v}} for i, v in enumerate(volumes)],
    )


def score_on(node: Node, nodes: list[Node], wanted: list[str], containers: int) -> int:
    """The formula for one node; an image has the size that the first node gave it."""
    held = [{n: i.size_bytes for i in o.status.images or () for n in i.names or ()} for o in nodes]
    own = {name for image in node.status.images or () for name in image.names or ()}
    total = 0
    for name in wanted:
        name = name if name.rfind(":") > name.rfind("/") else name + ":latest"
        if name in own:
            size = next(listed[name] for listed in held if name in listed)
            holders = sum(name in listed for listed in held)
            total += int(float(size) * (float(holders) / float(len(nodes))))
    low, high = 23 * MIB, containers * 1000 * MIB
    return 100 * (min(max(total, low), high) - low) // (high - low)


@given(
    holdings=st.lists(st.dictionaries(st.sampled_from(IMAGES), sizes), min_size=1, max_size=5),
    images=st.lists(st.sampled_from(("a", "a:v1", "reg:5000/b", "none")), min_size=1, max_size=3),
    init=st.lists(st.sampled_from(("a", "c@sha256:00")), max_size=2),
    volumes=st.lists(st.sampled_from(("a:v1", "reg:5000/b")), max_size=2),
)
def test_columns_answer_as_single_nodes_do(
    holdings: list[dict[str, int]], images: list[str], init: list[str], volumes: list[str]
) -> None:
    nodes = [make_node(f"n{i}", images=held) for i, held in enumerate(holdings)]
    pod = image_pod(*images, init=tuple(init), volumes=tuple(volumes))
    wanted, containers = [*init, *images, *volumes], len(images) + len(init)
    scores = {n.metadata.name: score_on(n, nodes, wanted, containers) for n in nodes}
    assert score_answers(PLUGIN, pod, make_cluster(nodes)) == (scores, scores)


def test_the_spec_examples_score_as_written() -> None:
    cluster = make_cluster(
        [
            make_node("n1", images={"a:v1": 250 * MIB, "b:v1": 40 * MIB}),
            make_node("n2", images={"a:v1": 250 * MIB, "c:v1": 3000 * MIB}),
            make_node("n3"),
        ]
    )
    assert score_answers(PLUGIN, image_pod("a:v1", "b:v1"), cluster) == (
        {"n1": 7, "n2": 7, "n3": 0},
        {"n1": 7, "n2": 7, "n3": 0},
    )
    assert score_answers(PLUGIN, image_pod("c:v1"), cluster) == (
        {"n1": 0, "n2": 100, "n3": 0},
        {"n1": 0, "n2": 100, "n3": 0},
    )


def test_the_share_counts_all_nodes_that_are_there() -> None:
    cluster = make_cluster(
        [make_node("n1", images={"a:v1": 500 * MIB}), make_node("n2"), make_node("gone")]
    )
    cluster.remove_node("gone")
    expected = 100 * (250 * MIB - 23 * MIB) // (977 * MIB)
    assert score_answers(PLUGIN, image_pod("a:v1"), cluster) == (
        {"n1": expected, "n2": 0},
        {"n1": expected, "n2": 0},
    )


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("nginx", "nginx:latest"),
        ("a:v1", "a:v1"),
        ("host:5000/a", "host:5000/a:latest"),
        ("host:5000/a:v2", "host:5000/a:v2"),
        ("a@sha256:00", "a@sha256:00"),
        ("", ":latest"),
    ],
)
def test_an_image_without_a_tag_is_the_latest(written: str, listed: str) -> None:
    assert canonical_image(written) == listed
