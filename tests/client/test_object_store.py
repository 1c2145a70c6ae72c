"""What a store tells: always the difference between what was known and what is."""

import json
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podium.client.object_store import ObjectStore
from podium.client.reflector import head_of
from podium.kubernetes.controllers.indexer import DeletedFinalStateUnknown, Key, last_state


class Copy:
    """A handler that builds the collection from what it is told, and checks that it fits."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def on_add(self, obj: Any, /, *, is_in_initial_list: bool) -> None:
        name = obj["metadata"]["name"]
        assert name not in self.objects
        self.objects[name] = obj

    def on_update(self, old: Any, new: Any, /) -> None:
        name = new["metadata"]["name"]
        assert self.objects[name] == old
        assert old["metadata"]["resourceVersion"] != new["metadata"]["resourceVersion"]
        self.objects[name] = new

    def on_delete(self, obj: Any, /) -> None:
        known = self.objects.pop(last_state(obj)["metadata"]["name"])
        assert not isinstance(obj, DeletedFinalStateUnknown) or known == obj.obj


def _raw(name: str, version: int) -> msgspec.Raw:
    metadata = {"name": name, "namespace": "", "resourceVersion": str(version)}
    return msgspec.Raw(json.dumps({"metadata": metadata}).encode())


NAMES = st.sampled_from("abcd")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES),
        st.tuples(st.just("remove"), NAMES),
        st.tuples(st.just("list"), st.sets(NAMES)),
    ),
    max_size=30,
)


@given(STEPS)
def test_whoever_is_told_every_change_has_the_same_collection(
    steps: list[tuple[str, Any]],
) -> None:
    copy = Copy()
    store: ObjectStore[Any] = ObjectStore("things", msgspec.json.decode, copy)
    for version, (step, what) in enumerate(steps, 1):
        if step == "put":
            store.put(head_of(_raw(what, version)), _raw(what, version))
        elif step == "remove":
            store.remove(head_of(_raw(what, version)), _raw(what, version))
        else:
            kept = {key: obj for key, obj in copy.objects.items() if key < "c"}
            items = [_raw(name, version) for name in sorted(what) if name not in kept]
            items += [msgspec.Raw(json.dumps(obj).encode()) for obj in kept.values()]
            store.replace(items)
        assert len(store) == len(copy.objects)
        assert {obj["metadata"]["name"]: obj for obj in store} == copy.objects
    for name, obj in copy.objects.items():
        assert store.get_by_key(Key("", name)) == obj


def test_an_item_that_is_no_object_is_passed_over() -> None:
    copy = Copy()
    store: ObjectStore[Any] = ObjectStore("things", msgspec.json.decode, copy)
    store.replace([msgspec.Raw(b"[1]"), msgspec.Raw(b'{"metadata": 5}'), _raw("a", 1)])
    assert set(copy.objects) == {"a"}
    assert store.undecodable == 2


def test_an_object_that_took_the_place_of_another_is_told_as_a_deletion_and_an_addition() -> None:
    told: list[str] = []

    class Heard:
        def on_add(self, obj: Any, /, *, is_in_initial_list: bool) -> None:
            told.append(f"added {obj['metadata']['uid']}")

        def on_update(self, old: Any, new: Any, /) -> None:
            told.append(f"updated {new['metadata']['uid']}")

        def on_delete(self, obj: Any, /) -> None:
            told.append(f"deleted {obj.obj['metadata']['uid']} unseen")

    store: ObjectStore[Any] = ObjectStore("things", msgspec.json.decode, Heard())
    for version, uid in enumerate(["one", "one", "two"]):
        metadata = {"name": "a", "uid": uid, "resourceVersion": str(version)}
        store.replace([msgspec.Raw(json.dumps({"metadata": metadata}).encode())])
    assert told == ["added one", "updated one", "deleted one unseen", "added two"]


def test_a_long_list_is_taken_in_by_steps_so_that_others_have_a_turn() -> None:
    copy = Copy()
    store: ObjectStore[Any] = ObjectStore("things", msgspec.json.decode, copy)
    sizes = [len(store) for _ in store.replacing(_raw(f"n{n}", 1) for n in range(1000))]
    assert len(store) == 1000
    assert max(later - earlier for earlier, later in pairwise(sizes)) <= 100
