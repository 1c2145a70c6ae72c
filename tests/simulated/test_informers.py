"""What is known of a kind: from watches, and from one's own writes."""

from typing import Any

from support.simulated.controller_objects import build, owned_by

from podium.kubernetes.controllers.pods import Pod
from podium.simulated.informers import PodInformer


def version(name: str, number: int, uid: str = "", **fields: Any) -> Pod:
    metadata = {"resourceVersion": str(number), "uid": uid or f"uid-{name}"}
    return build(Pod, name, metadata={**metadata, **fields.pop("metadata", {})}, **fields)


def make_store() -> tuple[PodInformer, list[tuple[str, str]]]:
    store = PodInformer()
    told: list[tuple[str, str]] = []

    def listen(old: Pod | None, new: Pod | None) -> None:
        told.append(tuple(p.metadata.resource_version if p else "" for p in (old, new)))  # type: ignore[arg-type]

    store.listen(listen)
    return store, told


def test_listeners_hear_of_what_was_and_what_is() -> None:
    store, told = make_store()
    store.put(version("a", 5, uid="one"))
    store.put(version("a", 4, uid="one"))
    store.put(version("a", 7, uid="one"))
    store.put(version("a", 9, uid="two"))
    store.drop(version("a", 10, uid="two"))
    assert told == [("", "5"), ("5", "7"), ("7", ""), ("", "9"), ("10", "")]
    assert store.get("ns", "a") is None


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
