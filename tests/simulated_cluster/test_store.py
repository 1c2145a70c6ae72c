"""What is known of a kind: from watches, and from one's own writes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.simulated_cluster.controller_objects import build, owned_by

from podium.client.resources import PODS
from podium.simulated_cluster.store import PodStore
from podium.workloads.pods import Pod


def version(name: str, number: int, uid: str = "", **fields: Any) -> Pod:
    metadata = {"resourceVersion": str(number), "uid": uid or f"uid-{name}"}
    return build(Pod, name, metadata={**metadata, **fields.pop("metadata", {})}, **fields)


def make_store() -> tuple[PodStore, list[tuple[str, str]]]:
    store = PodStore(PODS)
    told: list[tuple[str, str]] = []

    def listen(old: Pod | None, new: Pod | None) -> None:
        told.append(tuple(p.metadata.resource_version if p else "" for p in (old, new)))  # type: ignore[arg-type]

    store.listen(listen)
    return store, told


def test_old_news_are_no_news() -> None:
    store, told = make_store()
    store.put(version("a", 5))
    store.added(version("a", 3))
    store.updated(version("a", 3), version("a", 5))
    assert told == [("", "5")]
    store.updated(version("a", 5), version("a", 7))
    assert told == [("", "5"), ("5", "7")]


def test_what_is_deleted_does_not_come_back_by_late_news() -> None:
    store, told = make_store()
    store.put(version("a", 5))
    store.drop(version("a", 5))
    store.updated(version("a", 3), version("a", 4))
    store.deleted(version("a", 6), seen=True)
    assert told == [("", "5"), ("5", "")]
    assert store.get("ns", "a") is None


def test_another_object_of_the_same_name_takes_the_place() -> None:
    store, told = make_store()
    store.put(version("a", 5, uid="one"))
    store.put(version("a", 9, uid="two"))
    assert told == [("", "5"), ("5", ""), ("", "9")]
    store.deleted(version("a", 8, uid="one"), seen=True)
    found = store.get("ns", "a")
    assert found is not None
    assert found.metadata.uid == "two"


def test_pods_are_found_by_node_owner_and_claim() -> None:
    store, _ = make_store()
    volumes = [
        {"name": "v", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "e", "ephemeral": {}},
    ]
    owner = {"ownerReferences": owned_by("ReplicaSet", "web")}
    store.put(version("a", 1, metadata=owner, spec={"nodeName": "n1", "volumes": volumes}))
    store.put(version("b", 2))
    assert [pod.name for pod in store.on_node.of("n1")] == ["a"]
    assert [pod.name for pod in store.owned_by.of("uid-web")] == ["a"]
    assert [pod.name for pod in store.orphans.of("ns")] == ["b"]
    assert [pod.name for pod in store.using_claim.of(("ns", "a-e"))] == ["a"]
    store.put(version("a", 3, spec={"nodeName": "n2"}))
    assert store.on_node.of("n1") == []
    assert store.owned_by.of("uid-web") == []
    assert store.using_claim.of(("ns", "data")) == []


HISTORY = st.lists(st.sampled_from(["put", "delete"]), min_size=1, max_size=12)


@given(HISTORY, st.data())
def test_whatever_comes_twice_or_late_the_end_is_the_same(steps: list[str], data: Any) -> None:
    """Each version may be heard from a watch, from a write's answer, or from both, in any order."""
    events: list[tuple[str, Pod]] = []
    life = 0
    alive = False
    for number, step in enumerate(steps, 1):
        if step == "delete" and alive:
            events.append(("delete", version("a", number, uid=f"life-{life}")))
            alive = False
        elif step == "put":
            life += not alive
            alive = True
            events.append(("put", version("a", number, uid=f"life-{life}")))
    store, _ = make_store()
    watched = 0
    written = 0
    while watched < len(events):
        if written < len(events) and data.draw(st.booleans()):
            kind, pod = events[written]
            (store.put if kind == "put" else store.drop)(pod)
            written += 1
            continue
        kind, pod = events[watched]
        (store.put if kind == "put" else store.drop)(pod)
        watched += 1
    found = store.get("ns", "a")
    expected = events[-1][1].metadata if events and events[-1][0] == "put" else None
    assert (found.metadata if found else None) == expected
