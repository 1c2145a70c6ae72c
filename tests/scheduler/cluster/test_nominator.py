"""Nominations: one node per pod, arrival order per node, what changed."""

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.nominated_pods import Nominator
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.testing import make_pod

INFOS = PodInfos(ALL_REQUESTS)


def pod(name: str, priority: int = 0) -> PodInfo:
    return INFOS.of(make_pod(name, priority=priority))


def test_pods_are_listed_in_order_of_arrival() -> None:
    nominator = Nominator()
    first, second = pod("p"), pod("q")
    nominator.nominate(first, "a")
    nominator.nominate(second, "a")
    assert list(nominator.on_node("a")) == [first, second]
    assert nominator.on_node("b") == ()


def test_a_new_nomination_replaces_the_old_one() -> None:
    nominator = Nominator()
    nominator.nominate(pod("p"), "a")
    nominator.nominate(pod("q"), "a")
    moved = pod("p", 5)
    nominator.nominate(moved, "b")
    assert nominator.node_of(moved.uid) == "b"
    assert [info.key for info in nominator.on_node("a")] == ["default/q"]
    assert list(nominator.on_node("b")) == [moved]


def test_a_dropped_nomination_is_gone_and_dropping_again_is_fine() -> None:
    nominator = Nominator()
    held = pod("p")
    nominator.nominate(held, "a")
    nominator.drop(held.uid)
    nominator.drop(held.uid)
    assert nominator.node_of(held.uid) == ""
    assert nominator.on_node("a") == ()
    assert not nominator


def test_changes_are_told_by_node_since_a_version() -> None:
    nominator = Nominator()
    nominator.nominate(pod("p"), "a")
    then = nominator.version
    nominator.nominate(pod("q"), "b")
    nominator.nominate(pod("p"), "c")
    assert set(nominator.changed_since(then) or ()) == {"a", "b", "c"}
    assert nominator.changed_since(nominator.version) == []
    assert sorted(nominator.node_names()) == ["b", "c"]


def test_what_changed_too_long_ago_is_forgotten() -> None:
    nominator = Nominator()
    for number in range(10_000):
        nominator.nominate(pod("p"), f"n{number}")
    assert nominator.changed_since(0) is None


def test_a_stripped_pod_keeps_its_place_and_asks_for_nothing() -> None:
    nominator = Nominator()
    strong, other = pod("p", 5), pod("q")
    nominator.nominate(strong, "a")
    nominator.nominate(other, "a")
    nominator.strip(strong)
    left, kept = nominator.on_node("a")
    assert (left.uid, left.key, left.priority, left.shape.requests) == (
        strong.uid,
        strong.key,
        0,
        {},
    )
    assert kept is other


def test_stripping_a_pod_without_a_nomination_changes_nothing() -> None:
    nominator = Nominator()
    nominator.strip(pod("p"))
    assert list(nominator) == []


def test_a_nomination_is_restored_from_what_the_object_says() -> None:
    nominator = Nominator()
    asked = INFOS.of(make_pod("p", priority=5, status={"nominatedNodeName": "a"}))
    nominator.restore(asked)
    nominator.restore(pod("q"))
    assert [(info.uid, info.priority, name) for info, name in nominator] == [(asked.uid, 0, "a")]
