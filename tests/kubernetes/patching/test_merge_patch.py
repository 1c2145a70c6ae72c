"""JSON merge patches: the examples of RFC 7386, and that a difference leads back."""

from typing import Any

import pytest
from hypothesis import given
from support.apiserver.schema_values import json_objects

from podium.kubernetes.patching import PatchError, merge_patch


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": {"b": 1}}, {"a": [None, {"c": None}]}, {"a": [None, {"c": None}]}),
        ({}, {"a": [None, {"c": None}]}, {"a": [None, {}]}),
    ],
)
def test_objects_are_merged_null_removes_and_the_rest_replaces(
    document: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merge_patch.apply(document, patch) == result


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (
            [],
            "error decoding patch: json: cannot unmarshal array into Go value of type"
            " map[string]interface {}",
        ),
        (
            "x",
            "error decoding patch: json: cannot unmarshal string into Go value of type"
            " map[string]interface {}",
        ),
        (None, "Invalid JSON Patch"),
    ],
)
def test_a_patch_that_is_no_object_is_refused(patch: Any, message: str) -> None:
    with pytest.raises(PatchError) as error:
        merge_patch.apply({}, patch)
    assert (error.value.code, error.value.message) == (400, message)


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            patch[key] = difference(before, value)
        elif key not in old or before != value or type(before) is not type(value):
            patch[key] = value
    return patch


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


@given(old=json_objects, new=json_objects)
def test_the_difference_of_two_documents_leads_from_one_to_the_other(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    old, new = without_nulls(old), without_nulls(new)
    assert merge_patch.apply(old, difference(old, new)) == new


@given(document=json_objects, patch=json_objects)
def test_a_patch_applied_twice_does_what_it_did_once(
    document: dict[str, Any], patch: dict[str, Any]
) -> None:
    once = merge_patch.apply(document, patch)
    # upstream: nulls in a list stay only when the list replaces an object.
    assert without_nulls(merge_patch.apply(once, patch)) == without_nulls(once)
