"""What happened to each object, in the order in which it is popped."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from support.live.scripted_server import make_object
from support.live.virtual_loop import run_virtually

from podium.client.reflector import head_of
from podium.client.shared_informer import DeltaFIFO, PoppedDeltas
from podium.kubernetes.controllers.indexer import DeletedFinalStateUnknown, Key


class Known:
    """What the popping side knows."""

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.went_back = 0

    def get_by_key(self, key: Key) -> Any | None:
        return self.objects.get(key)

    def keys_until(self, version: str) -> Iterable[Key]:
        return list(self.objects)

    def server_went_back(self) -> None:
        self.went_back += 1

    def apply(self, popped: PoppedDeltas) -> None:
        for delta in popped.deltas:
            if delta.type == "Deleted":
                self.objects.pop(popped.key, None)
            else:
                self.objects[popped.key] = delta.obj


def raw(name: str, version: int) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(make_object(name, version)).encode())


def put(fifo: DeltaFIFO[Any], name: str, version: int) -> None:
    fifo.put(head_of(raw(name, version)), raw(name, version))


def remove(fifo: DeltaFIFO[Any], name: str, version: int) -> None:
    fifo.remove(head_of(raw(name, version)), raw(name, version))


def replace(fifo: DeltaFIFO[Any], version: int, *items: tuple[str, int]) -> None:
    for _ in fifo.replacing([raw(*item) for item in items], str(version)):
        pass


def shown(popped: PoppedDeltas) -> str:
    def text(obj: Any) -> str:
        unseen = isinstance(obj, DeletedFinalStateUnknown)
        metadata = (obj.obj if unseen else obj)["metadata"]
        return f"{metadata['resourceVersion']}{'?' if unseen else ''}"

    return f"{popped.key.name}: " + " ".join(f"{d.type}@{text(d.obj)}" for d in popped.deltas)


async def pop_all(fifo: DeltaFIFO[Any], known: Known) -> list[str]:
    found = []
    while len(fifo):
        popped = await fifo.pop()
        known.apply(popped)
        found.append(shown(popped))
    return found


def make() -> tuple[DeltaFIFO[Any], Known]:
    known = Known()
    return DeltaFIFO("pods", msgspec.json.decode, known), known


def test_an_object_is_popped_once_with_everything_that_happened_to_it() -> None:
    async def main() -> None:
        fifo, known = make()
        replace(fifo, 5, ("a", 1), ("b", 2))
        put(fifo, "c", 6)
        put(fifo, "a", 7)
        remove(fifo, "a", 8)
        assert await pop_all(fifo, known) == [
            "a: Replaced@1 Updated@7 Deleted@8",
            "b: Replaced@2",
            "c: Added@6",
        ]
        put(fifo, "b", 9)
        assert await pop_all(fifo, known) == ["b: Updated@9"]

    run_virtually(main())


def test_two_deletions_are_one_that_knows_more_and_unknown_objects_are_not_deleted() -> None:
    async def main() -> None:
        fifo, known = make()
        replace(fifo, 5, ("a", 1), ("b", 2))
        await pop_all(fifo, known)
        remove(fifo, "a", 6)
        replace(fifo, 9)
        remove(fifo, "nobody", 10)
        assert await pop_all(fifo, known) == ["a: Deleted@6", "b: Deleted@2?"]

    run_virtually(main())


def test_a_resync_puts_in_what_does_not_wait() -> None:
    async def main() -> None:
        fifo, known = make()
        replace(fifo, 5, ("a", 1), ("b", 2))
        await pop_all(fifo, known)
        put(fifo, "b", 7)
        assert fifo.resync()
        assert await pop_all(fifo, known) == ["b: Updated@7", "a: Sync@1"]
        assert not fifo.resync()

    run_virtually(main())


def test_it_has_synced_when_the_first_list_was_popped() -> None:
    async def main() -> None:
        fifo, _ = make()
        replace(fifo, 5, ("a", 1), ("b", 2))
        put(fifo, "late", 6)
        seen = []
        for _ in range(3):
            popped = await fifo.pop()
            seen.append((popped.key.name, popped.is_in_initial_list, fifo.synced.is_set()))
        assert seen == [("a", True, False), ("b", True, True), ("late", False, True)]

    run_virtually(main())


def test_who_pops_waits_for_something_to_come() -> None:
    async def main() -> None:
        fifo, _ = make()
        loop = asyncio.get_running_loop()
        loop.call_later(30, put, fifo, "a", 1)
        assert shown(await fifo.pop()) == "a: Added@1"
        assert loop.time() == 30

    run_virtually(main())


def test_a_list_that_stands_before_what_was_told_is_a_server_that_went_back() -> None:
    fifo, known = make()
    replace(fifo, 5, ("a", 1))
    put(fifo, "a", 9)
    replace(fifo, 9, ("a", 9))
    assert known.went_back == 0
    replace(fifo, 4, ("a", 1))
    assert known.went_back == 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "remove"]), st.sampled_from("abc")),
        st.tuples(st.just("replace"), st.sets(st.sampled_from("abc"))),
        st.tuples(st.sampled_from(["pop", "resync"]), st.none()),
    ),
    max_size=40,
)


@given(STEPS)
def test_whoever_applies_what_is_popped_ends_with_what_the_server_has(
    steps: list[tuple[str, Any]],
) -> None:
    async def main() -> None:
        fifo, known = make()
        served: dict[str, int] = {}
        for version, (step, what) in enumerate(steps, 1):
            match step:
                case "put":
                    served[what] = version
                    put(fifo, what, version)
                case "remove":
                    served.pop(what, None)
                    remove(fifo, what, version)
                case "replace":
                    served = {name: served.get(name, version) for name in sorted(what)}
                    replace(fifo, version, *served.items())
                case "resync":
                    fifo.resync()
                case "pop" if len(fifo):
                    known.apply(await fifo.pop())
        await pop_all(fifo, known)
        versions = {
            key.name: int(obj["metadata"]["resourceVersion"]) for key, obj in known.objects.items()
        }
        assert versions == served

    run_virtually(main())
