"""Sizes and holders of images."""

from podium.kubernetes.kinds.node import ContainerImage
from podium.scheduler.cluster.nodes import ImageIndex


def image(size_bytes: int, *names: str) -> ContainerImage:
    return ContainerImage(names=names, size_bytes=size_bytes)


def holders(index: ImageIndex, name: str) -> tuple[int, list[int]] | None:
    state = index.state(name)
    return (state.size_bytes, sorted(state.rows.tolist())) if state is not None else None


def test_the_first_node_to_list_an_image_gives_its_size() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1", "a@sha256:1"),))
    index.put(1, (image(250, "a:v1"),))
    assert holders(index, "a:v1") == (100, [0, 1])
    assert holders(index, "a@sha256:1") == (100, [0])


def test_an_image_goes_with_the_last_node_that_lists_it() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1"),))
    index.put(1, (image(250, "a:v1"),))
    index.put(0, None)
    assert holders(index, "a:v1") == (100, [1])
    index.put(1, (image(250, "b:v1"),))
    assert holders(index, "a:v1") is None
    index.put(2, (image(250, "a:v1"),))
    assert holders(index, "a:v1") == (250, [2])


def test_the_only_holder_may_change_the_size() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1"),))
    index.put(0, (image(300, "a:v1"),))
    assert holders(index, "a:v1") == (300, [0])


def test_one_of_two_holders_may_not_change_the_size() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1"),))
    index.put(1, (image(100, "a:v1"),))
    index.put(0, (image(300, "a:v1"),))
    assert holders(index, "a:v1") == (100, [0, 1])


def test_a_name_listed_twice_by_one_node_has_its_first_size() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1"), image(200, "a:v1")))
    assert holders(index, "a:v1") == (100, [0])
    index.put(0, None)
    assert holders(index, "a:v1") is None


def test_a_report_without_news_changes_nothing() -> None:
    index = ImageIndex()
    index.put(0, (image(100, "a:v1"),))
    before = index.version
    index.put(0, (image(100, "a:v1"),))
    assert (index.version, holders(index, "a:v1")) == (before, (100, [0]))
