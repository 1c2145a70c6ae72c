"""The heap with keys."""

from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.engine.queue.contents import KeyedHeap

Item = tuple[int, str]


def heap_of(*items: Item) -> KeyedHeap[Item]:
    heap: KeyedHeap[Item] = KeyedHeap(lambda item: item[0])
    for item in items:
        heap.push(item[1], item)
    return heap


def drained(heap: KeyedHeap[Item]) -> list[str]:
    names: list[str] = []
    while (item := heap.pop()) is not None:
        names.append(item[1])
    return names


def test_the_smallest_comes_first_and_equals_in_order_of_arrival() -> None:
    assert drained(heap_of((2, "b"), (1, "z"), (2, "a"), (1, "y"))) == ["z", "y", "b", "a"]


def test_a_member_that_is_pushed_again_moves_to_its_new_place() -> None:
    heap = heap_of((1, "a"), (2, "b"))
    heap.push("a", (3, "a"))
    assert len(heap) == 2
    assert drained(heap) == ["b", "a"]


def test_replacing_a_member_by_an_equal_one_keeps_its_place() -> None:
    heap = heap_of((1, "a"), (1, "b"))
    heap.push("a", (1, "a"))
    assert drained(heap) == ["a", "b"]


def test_a_replaced_member_is_the_one_that_comes_out() -> None:
    heap: KeyedHeap[list[int]] = KeyedHeap(lambda item: item[0])
    heap.push("a", [1, 1])
    heap.push("a", [1, 2])
    assert heap.get("a") == [1, 2]
    assert heap.pop() == [1, 2]
    assert heap.pop() is None


def test_removed_members_never_come_out() -> None:
    heap = heap_of((1, "a"), (2, "b"))
    assert heap.remove("a") == (1, "a")
    assert heap.remove("a") is None
    assert "a" not in heap
    assert heap.peek() == (2, "b")


def test_many_removals_do_not_let_the_heap_grow() -> None:
    heap = heap_of()
    for number in range(5000):
        heap.push("same", (number, "same"))
    assert len(heap) == 1
    assert len(heap._heap) < 2000


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["push", "pop", "remove"]), st.sampled_from("abcd"), st.integers(0, 3)
        )
    )
)
def test_it_behaves_as_a_sorted_list_would(steps: list[tuple[str, str, int]]) -> None:
    heap = heap_of()
    model: dict[str, tuple[int, int]] = {}
    for number, (step, key, order) in enumerate(steps):
        if step == "push":
            heap.push(key, (order, key))
            if key not in model or model[key][0] != order:
                model[key] = (order, number)
        elif step == "remove":
            assert (heap.remove(key) is not None) == (model.pop(key, None) is not None)
        else:
            first = min(model, key=model.__getitem__, default=None)
            popped = heap.pop()
            assert (popped[1] if popped else None) == first
            if first is not None:
                del model[first]
        assert sorted(item[1] for item in heap) == sorted(model)
