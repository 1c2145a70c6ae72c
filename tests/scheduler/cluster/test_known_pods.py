"""Pods by what they say, as they come, change and go."""

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import IndexedPods
from podium.testing import make_pod


def team(pod: Pod) -> str | None:
    return (pod.metadata.labels or {}).get("team")


def names(pods: IndexedPods, index: object, entry: str) -> list[str]:
    return [pod.metadata.name for pod in index.of(entry)]  # type: ignore[attr-defined]


def test_an_index_follows_pods_that_come_change_and_go() -> None:
    pods = IndexedPods()
    pods["default/a"] = make_pod("a", labels={"team": "red"})
    pods["default/x"] = make_pod("x")
    index = pods.index(team)
    assert names(pods, index, "red") == ["a"]
    pods["default/b"] = make_pod("b", labels={"team": "red"})
    pods["default/a"] = make_pod("a", labels={"team": "blue"})
    assert names(pods, index, "red") == ["b"]
    assert names(pods, index, "blue") == ["a"]
    pods.pop("default/b")
    assert names(pods, index, "red") == []
    assert list(index) == ["blue"]


def test_a_pod_that_was_changed_is_the_one_that_is_found() -> None:
    pods = IndexedPods()
    index = pods.index(team)
    pods["default/a"] = make_pod("a", labels={"team": "red"})
    changed = make_pod("a", labels={"team": "red"}, node="n")
    pods["default/a"] = changed
    assert list(index.of("red")) == [changed]


def test_an_index_tells_which_entries_changed_since_the_last_time() -> None:
    pods = IndexedPods()
    index = pods.index(lambda pod: pod.spec.node_name or None)
    pods["default/a"] = make_pod("a", node="one")
    assert index.take_changed() == {"one"}
    assert index.take_changed() == set()
    pods["default/b"] = make_pod("b")
    assert index.take_changed() == set()
    pods["default/a"] = make_pod("a", node="two")
    assert index.take_changed() == {"one", "two"}
    pods.pop("default/a")
    assert index.take_changed() == {"two"}
