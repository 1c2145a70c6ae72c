"""Sets of fields behave as sets of paths, whatever their nested form."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.managed_fields.field_sets import (
    LEAF,
    FieldSet,
    difference,
    has,
    intersection,
    members,
    union,
    without,
)

Path = tuple[str, ...]
STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
path_sets = st.frozensets(st.lists(STEPS, min_size=1, max_size=4).map(tuple), max_size=8)


def as_field_set(paths: frozenset[Path]) -> FieldSet:
    """The nested form of a set of paths."""
    return _node(paths, is_root=True)


def _node(paths: frozenset[Path], *, is_root: bool) -> dict[str, Any]:
    below = sorted({path[0] for path in paths if path})
    out: dict[str, Any] = {
        step: _node(frozenset(path[1:] for path in paths if path[:1] == (step,)), is_root=False)
        for step in below
    }
    return {".": {}, **out} if not is_root and () in paths and out else out


def paths_of(fields: FieldSet) -> frozenset[Path]:
    return frozenset(members(fields))


@given(paths=path_sets)
def test_the_nested_form_keeps_every_path(paths: frozenset[Path]) -> None:
    fields = as_field_set(paths)
    assert paths_of(fields) == paths
    assert all(has(fields, path) for path in paths)
    assert not has(fields, ("f:zzz",))


@given(one=path_sets, other=path_sets)
def test_set_algebra_is_that_of_the_paths(one: frozenset[Path], other: frozenset[Path]) -> None:
    first, second = as_field_set(one), as_field_set(other)
    assert union(first, second) == as_field_set(one | other)
    assert intersection(first, second) == as_field_set(one & other)
    assert difference(first, second) == as_field_set(one - other)
    assert union(first, second) == union(second, first)


@given(one=path_sets, other=path_sets)
def test_taking_out_recursively_takes_everything_below_too(
    one: frozenset[Path], other: frozenset[Path]
) -> None:
    kept = {path for path in one if not any(path[: len(o)] == o for o in other)}
    assert without(as_field_set(one), as_field_set(other)) == as_field_set(frozenset(kept))


@given(one=path_sets, other=path_sets, third=path_sets)
def test_unions_may_be_taken_in_any_order(
    one: frozenset[Path], other: frozenset[Path], third: frozenset[Path]
) -> None:
    a, b, c = as_field_set(one), as_field_set(other), as_field_set(third)
    assert union(union(a, b), c) == union(a, union(b, c))
    assert union(a, a) == a


def test_nothing_changes_the_arguments() -> None:
    one: FieldSet = {"f:a": LEAF, "f:b": {"f:c": {}}}
    other: FieldSet = {"f:a": {"f:d": {}}, "f:b": {}}
    assert union(one, other) == {
        "f:a": {".": {}, "f:d": {}},
        "f:b": {".": {}, "f:c": {}},
    }
    assert one == {"f:a": {}, "f:b": {"f:c": {}}}
    assert other == {"f:a": {"f:d": {}}, "f:b": {}}
    assert LEAF == {}
