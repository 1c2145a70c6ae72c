"""Objects by key and by whatever else is asked for; typed and plain ones."""

from threading import Event, Thread
from typing import Any

import pytest
from support.live.scripted_server import make_object

from podium.client import (
    DeletedFinalStateUnknown,
    Indexer,
    Key,
    Lister,
    meta_namespace_key,
    split_meta_namespace_key,
)
from podium.golang.errors import InputError
from podium.kubernetes.kinds.meta import (
    KubeObject,
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
)
from podium.kubernetes.rules.labels import Selector, selector_of


def labelled(name: str, namespace: str = "ns", **labels: str) -> dict[str, Any]:
    obj = make_object(name, 1, namespace)
    obj["metadata"]["labels"] = labels
    return obj


def filled(*objects: Any) -> Indexer[Any]:
    indexer: Indexer[Any] = Indexer(
        {"label": lambda obj: (obj["metadata"].get("labels") or {}).values()}
    )
    for obj in objects:
        indexer.put(meta_namespace_key(obj), obj)
    return indexer


def names(objects: list[Any]) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


def test_an_object_is_found_under_each_value_of_an_index_until_it_changes() -> None:
    indexer = filled(labelled("a", app="web", tier="front"), labelled("b", app="web"))
    assert names(indexer.by_index("label", "web")) == ["a", "b"]
    assert indexer.index_keys("label", "front") == [Key("ns", "a")]
    indexer.put(Key("ns", "a"), labelled("a", app="db"))
    assert names(indexer.by_index("label", "web")) == ["b"]
    assert sorted(map(str, indexer.index_values("label"))) == ["db", "web"]
    indexer.delete(Key("ns", "b"))
    assert indexer.by_index("label", "web") == []
    assert indexer.list_keys() == [Key("ns", "a")]


def test_an_index_that_comes_later_has_what_is_there() -> None:
    indexer = filled(labelled("a"), labelled("b"))
    first = indexer.add_index("first letter", lambda obj: obj["metadata"]["name"][0])
    assert names(first.of("b")) == ["b"]
    with pytest.raises(InputError, match="is an index"):
        indexer.add_index("label", lambda _: ())
    with pytest.raises(InputError, match='no index "lable"'):
        indexer.by_index("lable", "web")


def test_keys_are_read_from_typed_and_plain_objects_and_from_tombstones() -> None:
    typed = KubeObject(metadata=ObjectMeta(name="n1"))
    plain = make_object("web-0", 1, "shop")
    assert str(meta_namespace_key(typed)) == "n1"
    assert str(meta_namespace_key(plain)) == "shop/web-0"
    assert meta_namespace_key(DeletedFinalStateUnknown(Key("shop", "gone"), plain)).name == "gone"
    assert split_meta_namespace_key("shop/web-0") == ("shop", "web-0")
    assert split_meta_namespace_key("n1") == ("", "n1")
    with pytest.raises(InputError, match="is no key"):
        split_meta_namespace_key("a/b/c")


def test_a_lister_reads_by_namespace_name_and_labels() -> None:
    lister = Lister(
        filled(
            labelled("a", "one", app="web"), labelled("b", "two", app="db"), labelled("c", "two")
        )
    )
    assert names(lister.list()) == ["a", "b", "c"]
    assert names(lister.list({"app": "web"})) == ["a"]
    two = lister.of_namespace("two")
    assert names(two.list()) == ["b", "c"]
    exists = selector_of(
        LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Exists"),))
    )
    assert isinstance(exists, Selector)
    assert names(two.list(exists)) == ["b"]
    found = two.get("b")
    assert found is not None
    assert two.get("a") is None


def test_other_threads_may_read_while_objects_come_and_go() -> None:
    store = filled()
    pods = [labelled(f"pod-{number}", app=f"app-{number % 3}") for number in range(300)]
    failures: list[BaseException] = []
    is_over = Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                assert len(store.list()) <= len(pods)
                assert len(store.list_keys()) <= len(pods)
                assert {*store.index_values("label")} <= {"app-0", "app-1", "app-2"}
                assert len(store.by_index("label", "app-1")) <= len(pods)
        except BaseException as problem:
            failures.append(problem)

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(20):
        for pod in pods:
            store.put(meta_namespace_key(pod), pod)
        for pod in pods:
            store.delete(meta_namespace_key(pod))
    is_over.set()
    for reader in readers:
        reader.join()
    assert failures == []
