"""Keys are listed in order, whatever came and went."""

from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.store.collection import Collection, no_fields
from podium.apiserver.store.stored import Stored

NAMESPACES = st.sampled_from(["a", "a-b", "b"])
NAMES = st.sampled_from(["x", "y", "z", "x-1", "x.1"])


def version(namespace: str, name: str, revision: int) -> Stored:
    return Stored(namespace, name, revision, b'"metadata":{}}', {}, ())


@given(st.lists(st.tuples(st.booleans(), NAMESPACES, NAMES, st.booleans()), max_size=40))
def test_lists_are_sorted_and_complete(
    steps: list[tuple[bool, str, str, bool]],
) -> None:
    collection = Collection("things", no_fields, 1)
    expected: dict[str, int] = {}
    for revision, (puts, namespace, name, lists) in enumerate(steps, 2):
        key = f"{namespace}/{name}"
        if puts:
            collection.put(version(namespace, name, revision))
            expected[key] = revision
        elif key in expected:
            collection.remove(key, revision)
            del expected[key]
        if lists:
            assert [each.key for each in collection.current()] == sorted(expected)
    assert [each.revision for each in collection.current()] == [
        expected[key] for key in sorted(expected)
    ]
    for namespace in ("a", "a-b", "b"):
        own = sorted(key for key in expected if key.startswith(f"{namespace}/"))
        assert [each.key for each in collection.current(namespace)] == own
        for place, key in enumerate(own):
            following = [each.key for each in collection.state(namespace, key)]
            assert following == own[place + 1 :]
            assert len(collection.state(namespace, key)) == len(following)


@given(st.lists(st.tuples(st.booleans(), NAMES), max_size=30))
def test_every_past_state_can_be_listed(steps: list[tuple[bool, str]]) -> None:
    collection = Collection("things", no_fields, 1)
    states: dict[int, dict[str, int]] = {1: {}}
    now: dict[str, int] = {}
    for revision, (puts, name) in enumerate(steps, 2):
        if puts:
            collection.put(version("n", name, revision))
            now[f"n/{name}"] = revision
        elif f"n/{name}" in now:
            collection.remove(f"n/{name}", revision)
            del now[f"n/{name}"]
        states[revision] = dict(now)
    for revision, state in states.items():
        assert {each.key: each.revision for each in collection.at(revision)} == state
